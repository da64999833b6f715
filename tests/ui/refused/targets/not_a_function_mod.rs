use retry_runtime::retry;

#[retry(on = |_| true)]
mod client {}

fn main() {}
