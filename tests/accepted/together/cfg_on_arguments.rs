//! Arguments, statements and the function itself under `cfg`.

use std::cell::Cell;

use retry_runtime::retry;

#[retry(max = 2, backoff = "none", on = |_| attempts.get() < 9)]
async fn complete(
    #[cfg(any())] absent: NoSuchType,
    #[cfg(not(any()))] attempts: &Cell<u32>,
    #[allow(unused_variables)] unused: u32,
) -> Result<u32, u32> {
    #[cfg(any())]
    let attempts = absent;
    attempts.set(attempts.get() + 1);
    #[cfg(not(any()))]
    {
        Err(attempts.get())
    }
    #[cfg(any())]
    {
        Ok(0)
    }
}

#[cfg(any())]
#[retry(on = no_such_function)]
fn absent() -> NoSuchType {}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    assert_eq!(complete(&Cell::new(0), 0).await, Err(3));
}
