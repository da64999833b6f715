use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(transparent)]
    Parse(std::num::ParseIntError),
}

fn main() {}
