use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transiant)]
    Overloaded,
    #[classify(stop, ambiguous)]
    Unauthorized,
    #[classify(transparent)]
    Io(std::io::Error, String),
    Other,
}

fn main() {}
