use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transiant)]
    Overloaded,
}

fn main() {}
