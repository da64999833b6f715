use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transient, ambiguous, ambiguous)]
    Overloaded,
}

fn main() {}
