use retry_runtime::retry;

trait Model {
    async fn complete(&self) -> Result<String, String>;
}

struct Client;

impl Model for Client {
    #[retry(maxx = 5)]
    async fn complete(&self) -> Result<String, String> {
        Ok(String::from("hello"))
    }
}

fn main() {}
