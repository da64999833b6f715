use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transient, ambiguous, ambiguous)]
    Overloaded,
    #[classify(transparent, transparent)]
    Sending(std::io::Error),
    #[classify(throttled, after = wait, after = wait)]
    Throttled { wait: std::time::Duration },
}

fn main() {}
