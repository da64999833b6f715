use retry_runtime::retry;

fn times() -> u32 {
    5
}

#[retry(idempotent = self::times(), on = |_| retry_runtime::Verdict::TRANSIENT)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
