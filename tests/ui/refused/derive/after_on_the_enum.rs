use retry_runtime::Classify;

#[derive(Classify)]
#[classify(throttled, after = retry_after)]
enum ModelError {
    Busy { retry_after: std::time::Duration },
}

fn main() {}
