use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(retry)]
    Overloaded,
}

fn main() {}
