use retry_runtime::retry;

fn limit() -> u64 {
    250
}

#[retry(deadline = self::limit(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
