use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(throttled)]
    Busy {
        #[classify(after)]
        retry_after: std::time::Duration,
    },
}

fn main() {}
