use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(throttled, after = retry_after)]
    Busy,
}

fn main() {}
