use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(throttled, after)]
    Busy { retry_after: std::time::Duration },
}

fn main() {}
