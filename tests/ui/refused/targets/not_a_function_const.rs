use retry_runtime::retry;

#[retry(on = |_| true)]
const MODEL: &str = "small";

fn main() {}
