use retry_runtime::retry;

struct Client;

#[retry(on = |_: &String| true)]
impl Client {
    async fn complete(&self, prompt: String) -> Result<String, String> {
        send(prompt)
    }
}

fn send(prompt: String) -> Result<String, String> {
    Ok(prompt)
}

fn main() {}
