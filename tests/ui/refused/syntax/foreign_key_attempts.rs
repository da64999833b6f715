use retry_runtime::retry;

#[retry(attempts = 3, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
