use retry_runtime::retry;

fn policy() -> u32 {
    5
}

#[retry(policy = self::policy(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
