use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    Overloaded,
}

#[retry_runtime::retry(max = 5)]
async fn complete() -> Result<String, ModelError> {
    Err(ModelError::Overloaded)
}

fn main() {}
