use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transparent)]
    Io(std::io::Error, String),
}

fn main() {}
