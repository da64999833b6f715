use retry_runtime::retry;

#[retry(cap = "10s", throttled(base = "1m"), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
