#![deny(unused_variables)]

use retry_runtime::retry;

#[retry(on = |_| true)]
fn complete(prompt: &str) -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {
    let _ = complete("hello");
}
