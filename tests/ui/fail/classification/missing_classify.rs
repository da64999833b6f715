use retry_runtime::retry;

#[derive(Debug)]
enum ModelError {
    Overloaded,
}

#[retry(max = 5)]
async fn complete() -> Result<String, ModelError> {
    Err(ModelError::Overloaded)
}

fn main() {}
