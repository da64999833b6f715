use retry_runtime::retry;

fn times() -> f64 {
    2.0
}

#[retry(repeats = self::times(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
