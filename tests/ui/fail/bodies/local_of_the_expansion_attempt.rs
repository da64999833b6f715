use retry_runtime::retry;

#[retry(attempt = attempt, max = attempt.number(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
