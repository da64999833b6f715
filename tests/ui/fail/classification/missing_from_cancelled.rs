use std::future::pending;

use retry_runtime::retry;

#[derive(Debug)]
struct ModelError;

#[retry(abort = pending(), on = |_| true)]
async fn complete() -> Result<String, ModelError> {
    Err(ModelError)
}

fn main() {}
