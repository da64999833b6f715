use retry_runtime::retry;

async fn send(_: String) -> std::io::Result<u32> {
    Ok(1)
}

#[retry(hedge = "200ms")]
async fn call(prompt: String) -> std::io::Result<u32> {
    send(prompt).await
}

fn main() {}
