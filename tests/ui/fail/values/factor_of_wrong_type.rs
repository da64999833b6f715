use retry_runtime::retry;

fn factor() -> &'static str {
    "2"
}

#[retry(factor = self::factor(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
