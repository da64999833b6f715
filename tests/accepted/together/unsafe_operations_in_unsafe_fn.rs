//! Unsafe operations in an `unsafe fn` without an `unsafe` block, as edition 2021 allows.

#![allow(unsafe_op_in_unsafe_fn)]

use std::cell::Cell;

use retry_runtime::retry;

unsafe fn count(attempts: *const Cell<u32>) -> u32 {
    (*attempts).set((*attempts).get() + 1);
    (*attempts).get()
}

#[retry(max = 2, backoff = "none", on = |_| true)]
async unsafe fn read_async(attempts: *const Cell<u32>) -> Result<u32, u32> {
    Err(unsafe { count(attempts) })
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let attempts = Cell::new(0);
    // SAFETY: the pointer is to a local.
    assert_eq!(unsafe { read_async(&attempts).await }, Err(3));
}
