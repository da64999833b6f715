use retry_protections::Breaker;
use retry_runtime::retry;

static BREAKER: Breaker = Breaker::new();

#[derive(Debug)]
enum ModelError {
    Overloaded,
}

#[retry(breaker = &BREAKER, on = |_| true)]
async fn complete() -> Result<String, ModelError> {
    Err(ModelError::Overloaded)
}

#[retry(breaker = &BREAKER, on = |_| true)]
fn blocking() -> Result<String, String> {
    Err(String::from("overloaded"))
}

fn main() {}
