use retry_runtime::Classify;

#[derive(Classify)]
#[classify(transparent)]
enum ModelError {
    Io(std::io::Error),
}

fn main() {}
