use retry_runtime::retry;

fn limit() -> f64 {
    2.0
}

#[retry(max = self::limit(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
