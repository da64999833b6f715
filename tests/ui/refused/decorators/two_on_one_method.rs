use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    #[retry(max = 3)]
    #[retry(timeout = "1s")]
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

struct Client;

impl Model for Client {
    async fn complete(&self, prompt: &str) -> Result<String, String> {
        Ok(prompt.to_owned())
    }
}

fn main() {
    let _ = Client.complete("hello");
}
