use retry_runtime::retry;

#[retry(factor = 3, jitter = "decorrelated", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
