use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify]
    Overloaded,
}

fn main() {}
