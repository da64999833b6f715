use retry_runtime::retry;

struct Client;

#[retry(on = |_: &String| true)]
impl Client {
    #[retry(max = 3)]
    #[retry(skip)]
    async fn complete(&self, prompt: &str) -> Result<String, String> {
        Ok(prompt.to_owned())
    }
}

fn main() {
    let _ = Client.complete("hello");
}
