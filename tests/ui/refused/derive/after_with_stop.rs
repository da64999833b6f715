use retry_runtime::Classify;

#[derive(Classify)]
enum ModelError {
    #[classify(stop, after = wait)]
    Unauthorized { wait: std::time::Duration },
}

fn main() {}
