//! `impl Trait` as argument, as value, and as the whole return type.

use std::cell::Cell;
use std::fmt::Display;

use retry_runtime::retry;

#[retry(max = 2, backoff = "none", on = |_| true)]
async fn value(
    attempts: &Cell<u32>,
    names: impl Fn() -> u32,
) -> Result<impl Iterator<Item = u32>, u32> {
    attempts.set(attempts.get() + names());
    if attempts.get() < 3 {
        return Err(attempts.get());
    }
    Ok(std::iter::once(attempts.get()).chain([7]))
}

#[retry(max = 2, backoff = "none", on = |_| true)]
fn nested(attempts: &Cell<u32>) -> Result<(Vec<impl Display + use<'_>>, u32), u32> {
    Ok((vec!["hello"], crate::third(attempts)?))
}

#[retry(max = 2, backoff = "none", on = |_| true)]
fn future(attempts: &Cell<u32>) -> impl Future<Output = Result<u32, u32>> {
    std::future::ready(crate::fail(attempts))
}

#[retry(max = 2, backoff = "none", on = |_| true)]
fn future_of_one_block(attempts: &Cell<u32>) -> impl Future<Output = Result<u32, u32>> {
    async move { crate::fail(attempts) }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let attempts = || Cell::new(0);
    assert!(value(&attempts(), || 1).await.unwrap().eq([3, 7]));
    assert_eq!(nested(&attempts()).unwrap().1, 3);
    assert_eq!(future(&attempts()).await, Err(3));
    assert_eq!(future_of_one_block(&attempts()).await, Err(3));
}
