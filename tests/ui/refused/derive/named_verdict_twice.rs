use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transient, transient)]
    Overloaded,
}

fn main() {}
