use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transient ambiguous)]
    Overloaded,
}

fn main() {}
