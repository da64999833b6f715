use retry_runtime::retry;
use std::io;

fn limit() -> u64 {
    250
}

#[retry(timeout = self::limit(), on = |_| true)]
async fn complete() -> Result<String, io::Error> {
    Ok(String::from("hello"))
}

fn main() {}
