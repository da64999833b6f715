//! Bodies in which a careless expansion would cause compiler warnings.

#![deny(
    warnings,
    unused,
    unused_braces,
    unreachable_code,
    unused_mut,
    unused_variables
)]

use std::cell::Cell;

use retry_runtime::retry;

/// Ends in `return`.
#[retry(backoff = "none", on = |_| true)]
async fn returns(attempts: &Cell<u32>) -> Result<u32, u32> {
    attempts.set(attempts.get() + 1);
    return Err(attempts.get());
}

/// One expression.
#[retry(backoff = "none", on = |_| true)]
fn expression(attempts: &Cell<u32>) -> Result<u32, u32> {
    crate::fail(attempts)
}

/// Never returns `Ok`.
#[retry(backoff = "none", on = |_| true)]
async fn fails(attempts: &Cell<u32>) -> Result<std::convert::Infallible, u32> {
    crate::fail(attempts)?;
    unreachable!()
}

/// Returns `()`.
#[retry(backoff = "none", on = |_| true)]
async fn unit(attempts: &Cell<u32>) -> Result<(), u32> {
    crate::fail(attempts)?;
    Ok(())
}

/// Ends in a loop.
#[retry(backoff = "none", on = |_| true)]
async fn loops(mut limit: u32, attempts: &Cell<u32>) -> Result<(), u32> {
    loop {
        limit += 1;
        if limit > 0 {
            return Err(crate::fail(attempts).unwrap_err());
        }
    }
}

/// An annotated function inside an annotated function, and an annotated function that calls another.
#[retry(max = 1, backoff = "none", on = |_| true)]
async fn outer(attempts: &Cell<u32>) -> Result<u32, u32> {
    #[retry(max = 2, backoff = "none", on = |_| true)]
    async fn inner(attempts: &Cell<u32>) -> Result<u32, u32> {
        crate::fail(attempts)
    }

    let closure = || -> Result<u32, u32> { Err(inner_blocking(attempts)?) };

    #[retry(max = 2, backoff = "none", on = |_| true)]
    fn inner_blocking(attempts: &Cell<u32>) -> Result<u32, u32> {
        crate::fail(attempts)
    }

    let _ = closure();
    inner(attempts).await
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let attempts = || Cell::new(0);
    assert_eq!(returns(&attempts()).await, Err(4));
    assert_eq!(expression(&attempts()), Err(4));
    assert!(matches!(fails(&attempts()).await, Err(4)));
    assert_eq!(unit(&attempts()).await, Err(4));
    assert_eq!(loops(0, &attempts()).await, Err(4));
    assert_eq!(outer(&attempts()).await, Err(12));
}
