use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify = "transient"]
    Overloaded,
}

fn main() {}
