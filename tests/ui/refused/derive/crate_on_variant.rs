use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(crate = retry_runtime, stop)]
    Unauthorized,
}

fn main() {}
