use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transient)]
    #[classify(stop)]
    Overloaded,
}

fn main() {}
