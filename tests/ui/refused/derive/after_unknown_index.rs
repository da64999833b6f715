use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(throttled, after = 1)]
    Busy(std::time::Duration),
}

fn main() {}
