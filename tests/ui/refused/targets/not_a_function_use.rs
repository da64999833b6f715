use retry_runtime::retry;

#[retry(on = |_| true)]
pub use std::io;

fn main() {}
