//! The defaults: three retries, with the error type's `Classify`.

use std::cell::Cell;

use retry_runtime::{Classify, retry};

#[derive(Debug, PartialEq, Classify)]
enum ModelError {
    #[classify(transient)]
    Overloaded,
    #[classify(stop)]
    Unauthorized,
}

#[retry]
async fn complete(attempts: &Cell<u32>) -> Result<&'static str, ModelError> {
    attempts.set(attempts.get() + 1);
    if attempts.get() < 4 {
        Err(ModelError::Overloaded)
    } else {
        Ok("hello")
    }
}

#[retry()]
async fn log_in(attempts: &Cell<u32>) -> Result<(), ModelError> {
    attempts.set(attempts.get() + 1);
    Err(ModelError::Unauthorized)
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() {
    let attempts = Cell::new(0);
    assert_eq!(complete(&attempts).await, Ok("hello"));
    assert_eq!(attempts.get(), 4);

    let attempts = Cell::new(0);
    assert_eq!(log_in(&attempts).await, Err(ModelError::Unauthorized));
    assert_eq!(attempts.get(), 1);
}
