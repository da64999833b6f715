use retry_runtime::Classify;

#[derive(Classify)]
struct ModelError;

fn main() {}
