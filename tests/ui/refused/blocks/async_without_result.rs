use retry_runtime::retry;

struct Client;

#[retry(max = 3, on = |_: &String| true)]
impl Client {
    async fn count(&self) -> u32 {
        3
    }

    async fn ping(&self) {}

    fn new() -> Self {
        Client
    }

    async fn fetch(&self) -> Result<(), String> {
        Ok(())
    }
}

fn main() {
    let _ = Client::new().fetch();
}
