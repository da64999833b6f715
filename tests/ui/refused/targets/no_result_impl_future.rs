use retry_runtime::retry;
use std::future::Future;

#[retry(on = |_| true)]
fn complete() -> impl Future<Output = String> {
    async { String::from("hello") }
}

fn main() {}
