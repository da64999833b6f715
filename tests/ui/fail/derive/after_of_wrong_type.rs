use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(throttled, after = seconds)]
    Busy { seconds: u64 },
}

fn main() {}
