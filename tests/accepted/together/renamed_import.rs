use std::cell::Cell;

use retry_runtime as rt;
use retry_runtime::retry as again;

#[again(max = 2, backoff = "none", on = |_| true)]
fn complete(attempts: &Cell<u32>) -> Result<u32, u32> {
    crate::fail(attempts)
}

#[rt::retry(max = 2, backoff = "none", on = |_| true)]
fn complete_again(attempts: &Cell<u32>) -> Result<u32, u32> {
    crate::fail(attempts)
}

#[::retry_runtime::retry(max = 2, backoff = rt::Backoff::None, on = |_| true)]
fn complete_once_more(attempts: &Cell<u32>) -> Result<u32, u32> {
    crate::fail(attempts)
}

pub(crate) fn main() {
    assert_eq!(complete(&Cell::new(0)), Err(3));
    assert_eq!(complete_again(&Cell::new(0)), Err(3));
    assert_eq!(complete_once_more(&Cell::new(0)), Err(3));
}
