use retry_runtime::retry;

#[retry(throttled(max = 5, max = 6), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
