use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transparent, stop)]
    Io(std::io::Error),
}

fn main() {}
