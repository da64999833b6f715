use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transparent)]
    Io,
}

fn main() {}
