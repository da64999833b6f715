use retry_runtime::retry;

#[derive(Debug)]
enum ModelError {
    Overloaded,
}

type Answer = Result<String, ModelError>;

#[retry(max = 5)]
async fn complete() -> Answer {
    Err(ModelError::Overloaded)
}

fn main() {}
