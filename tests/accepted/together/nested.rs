//! An annotated function inside an annotated function, and an annotated function that calls another.

use std::cell::Cell;

use retry_runtime::retry;

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
    assert_eq!(outer(&Cell::new(0)).await, Err(12));
}
