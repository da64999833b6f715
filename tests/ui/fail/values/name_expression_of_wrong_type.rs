use retry_runtime::retry;

fn number() -> u32 {
    5
}

#[retry(name = self::number(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
