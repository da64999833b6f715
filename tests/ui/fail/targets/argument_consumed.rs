use retry_runtime::retry;

async fn send(prompt: String) -> Result<String, String> {
    Ok(prompt)
}

#[retry(on = |_| true)]
async fn complete(prompt: String) -> Result<String, String> {
    send(prompt).await
}

fn main() {}
