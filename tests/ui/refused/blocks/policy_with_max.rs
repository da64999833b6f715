use retry_runtime::{retry, Policy};

struct Client {
    policy: Policy,
}

#[retry(policy = self.policy)]
impl Client {
    #[retry(max = 3)]
    async fn fetch(&self) -> std::io::Result<()> {
        Ok(())
    }
}

fn main() {}
