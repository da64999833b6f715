use retry_runtime::retry;

#[retry(backoff = exp, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
