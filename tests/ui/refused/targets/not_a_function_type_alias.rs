use retry_runtime::retry;

#[retry(on = |_| true)]
type Model = String;

fn main() {}
