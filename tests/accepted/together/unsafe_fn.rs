//! An `unsafe fn` stays unsafe, and its body may still call unsafe functions.

use std::cell::Cell;

use retry_runtime::retry;

#[retry(max = 2, backoff = "none", on = |_| true)]
unsafe fn read(attempts: *const Cell<u32>) -> Result<u32, u32> {
    // SAFETY: the caller guarantees that the pointer is valid.
    let attempts = unsafe { &*attempts };
    crate::third(attempts)
}

#[retry(max = 2, backoff = "none", on = |_| true)]
async unsafe fn read_async(attempts: *const Cell<u32>) -> Result<u32, u32> {
    // SAFETY: the caller guarantees that the pointer is valid.
    let attempts = unsafe { &*attempts };
    std::future::ready(()).await;
    crate::third(attempts)
}

#[retry(max = 2, backoff = "none", on = |_| true)]
#[allow(improper_ctypes_definitions)]
unsafe extern "C" fn read_from_c(attempts: *const Cell<u32>) -> Result<u32, u32> {
    // SAFETY: the caller guarantees that the pointer is valid.
    let attempts = unsafe { &*attempts };
    crate::fail(attempts)
}

/// Unsafe operations without an `unsafe` block, as edition 2021 allows.
#[allow(unsafe_op_in_unsafe_fn)]
unsafe fn count(attempts: *const Cell<u32>) -> u32 {
    (*attempts).set((*attempts).get() + 1);
    (*attempts).get()
}

#[retry(max = 2, backoff = "none", on = |_| true)]
#[allow(unsafe_op_in_unsafe_fn)]
async unsafe fn read_counted(attempts: *const Cell<u32>) -> Result<u32, u32> {
    Err(unsafe { count(attempts) })
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let attempts = Cell::new(0);
    // SAFETY: the pointer is to a local.
    assert_eq!(unsafe { read(&attempts) }, Ok(3));

    let attempts = Cell::new(0);
    // SAFETY: the pointer is to a local.
    assert_eq!(unsafe { read_async(&attempts).await }, Ok(3));

    let attempts = Cell::new(0);
    // SAFETY: the pointer is to a local.
    assert_eq!(unsafe { read_from_c(&attempts) }, Err(3));

    let attempts = Cell::new(0);
    // SAFETY: the pointer is to a local.
    assert_eq!(unsafe { read_counted(&attempts).await }, Err(3));
}
