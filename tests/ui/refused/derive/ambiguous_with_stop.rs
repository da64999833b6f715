use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(stop, ambiguous)]
    Unauthorized,
}

fn main() {}
