use retry_runtime::retry;

#[retry(validate = self::is_valid, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
