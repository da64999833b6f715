#![deny(dead_code)]

use retry_runtime::retry;

#[retry(on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
