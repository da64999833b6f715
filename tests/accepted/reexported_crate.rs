//! A crate that re-exports the runtime, and the attribute under another name.

use std::cell::Cell;

mod reexport {
    pub use retry_runtime;
    pub use retry_runtime::retry as persist;
}

use reexport::persist;

mod retry_runtime {}

#[persist(crate = crate::reexport::retry_runtime, max = 2, backoff = "none", on = |_| true)]
async fn complete(attempts: &Cell<u32>) -> Result<u32, u32> {
    attempts.set(attempts.get() + 1);
    Err(attempts.get())
}

#[reexport::persist(
    crate(reexport::retry_runtime),
    max = 2,
    jitter = "none",
    base = "1ms",
    on = |_| reexport::retry_runtime::Verdict::TRANSIENT,
    timeout = "1s",
    attempt = attempt,
    throttled(max = 1)
)]
async fn with_keys(attempts: &Cell<u32>) -> Result<u32, std::io::Error> {
    attempts.set(attempt.number());
    Err(std::io::Error::from(std::io::ErrorKind::TimedOut))
}

#[derive(reexport::retry_runtime::Classify)]
#[classify(crate = reexport::retry_runtime)]
#[allow(dead_code)]
enum ModelError {
    #[classify(transient)]
    Overloaded(u32),
    #[classify(transparent)]
    Io(std::io::Error),
}

#[persist(crate = self::reexport::retry_runtime, max = 2, backoff = "none")]
fn derived(attempts: &Cell<u32>) -> Result<u32, ModelError> {
    attempts.set(attempts.get() + 1);
    Err(ModelError::Overloaded(attempts.get()))
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let attempts = Cell::new(0);
    assert_eq!(complete(&attempts).await, Err(3));

    let attempts = Cell::new(0);
    assert!(with_keys(&attempts).await.is_err());
    assert_eq!(attempts.get(), 3);

    let attempts = Cell::new(0);
    assert!(derived(&attempts).is_err());
    assert_eq!(attempts.get(), 3);
}
