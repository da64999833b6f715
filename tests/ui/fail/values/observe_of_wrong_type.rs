use retry_runtime::retry;

fn observer() -> u32 {
    5
}

#[retry(observe = self::observer(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
