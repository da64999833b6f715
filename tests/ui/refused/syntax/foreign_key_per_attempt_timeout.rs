use retry_runtime::retry;

#[retry(per_attempt_timeout = "5s", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
