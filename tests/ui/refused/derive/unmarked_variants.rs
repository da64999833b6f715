use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    Overloaded,
    Unauthorized,
}

fn main() {}
