use retry_runtime::retry;

#[retry(on = |_| true)]
struct Client;

fn main() {}
