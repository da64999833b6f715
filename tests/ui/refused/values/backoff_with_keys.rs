use retry_runtime::retry;

#[retry(backoff = exp(base = "1s"))]
async fn get() -> std::io::Result<String> {
    Ok(String::new())
}

fn main() {}
