use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transient, stop)]
    Overloaded,
}

fn main() {}
