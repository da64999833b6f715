use retry_runtime::retry;

struct ModelError;

#[retry(repeats = 2, on = |_| true)]
async fn complete() -> Result<String, ModelError> {
    Err(ModelError)
}

fn main() {}
