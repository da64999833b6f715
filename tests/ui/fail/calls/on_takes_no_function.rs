use std::io::{Error, ErrorKind, Result};

use retry_runtime::Policy;

fn get() -> Result<u32> {
    Ok(1)
}

fn is_retryable(_: &Error) -> bool {
    true
}

fn main() {
    let policy = Policy::new();
    let _ = policy.on(is_retryable).call_blocking(get);
    let _ = policy.on(|_| true).call_blocking(get);
    let _ = policy.on(ErrorKind::TimedOut).call_blocking(get);
    let _ = policy.on(|_| "yes").call_blocking(get);
}
