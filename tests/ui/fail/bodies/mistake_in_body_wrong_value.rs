use retry_runtime::retry;

fn send() -> Result<u32, String> {
    Ok(5)
}

#[retry(on = |_| true)]
async fn complete() -> Result<String, String> {
    send()
}

fn main() {}
