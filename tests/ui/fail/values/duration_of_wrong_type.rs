use retry_runtime::retry;

fn base() -> u64 {
    250
}

#[retry(base = self::base(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
