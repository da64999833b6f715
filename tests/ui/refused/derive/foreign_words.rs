use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(retryable)]
    Overloaded,
    #[classify(fatal)]
    Unauthorized,
    #[classify(rate_limited)]
    TooManyRequests,
}

fn main() {}
