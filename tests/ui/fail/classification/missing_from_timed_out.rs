use retry_runtime::retry;

#[derive(Debug)]
enum ModelError {
    Overloaded,
}

#[retry(timeout = "10s", on = |_| true)]
async fn complete() -> Result<String, ModelError> {
    Err(ModelError::Overloaded)
}

fn main() {}
