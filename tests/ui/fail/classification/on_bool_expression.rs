use retry_runtime::retry;

const RETRY: bool = true;

#[retry(on = self::RETRY)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
