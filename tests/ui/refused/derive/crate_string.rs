use retry_runtime::Classify;

#[derive(Classify)]
#[classify(crate = "retry_runtime", stop)]
enum ModelError {
    Unauthorized,
}

fn main() {}
