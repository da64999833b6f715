//! Generated code has locals with the names of these functions. The body still calls the functions.

use std::sync::atomic::{AtomicU32, Ordering};

use retry_runtime::retry;

static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

fn call() -> u32 {
    ATTEMPTS.fetch_add(1, Ordering::Relaxed) + 1
}

fn pause() -> bool {
    true
}

fn verdict(error: &u32) -> bool {
    *error < 9
}

fn error(attempt: u32) -> Result<u32, u32> {
    Err(attempt)
}

fn policy() -> retry_runtime::Policy {
    retry_runtime::Policy::none().max(2)
}

#[retry(policy = policy(), on = |error| pause() && verdict(error))]
async fn complete() -> Result<u32, u32> {
    error(call())
}

#[retry(policy = policy(), on = verdict)]
fn blocking() -> Result<u32, u32> {
    error(call())
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    assert_eq!(complete().await, Err(3));
    ATTEMPTS.store(0, Ordering::Relaxed);
    assert_eq!(blocking(), Err(3));
}
