#![deny(unreachable_code)]

use retry_runtime::retry;

#[retry(on = |_| true)]
fn complete() -> Result<String, String> {
    return Ok(String::from("hello"));
    Err(String::from("overloaded"))
}

fn main() {
    let _ = complete();
}
