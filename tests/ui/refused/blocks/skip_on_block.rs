use retry_runtime::retry;

struct Client;

#[retry(skip)]
impl Client {
    async fn complete(&self, prompt: &str) -> Result<String, String> {
        Ok(prompt.to_owned())
    }
}

fn main() {
    let _ = Client.complete("hello");
}
