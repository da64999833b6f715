#![deny(unused_must_use)]

use retry_runtime::retry;

#[retry(on = |_| true)]
fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {
    complete();
}
