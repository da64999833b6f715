//! The locks and atomics in everything that calls share. `tests/interleavings` compiles the same sources with locks and
//! atomics that try every order of the threads' steps.

pub(crate) use core::sync::atomic::AtomicBool;
pub use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::PoisonError;
pub use std::sync::{Mutex, MutexGuard};

/// Locks the mutex, even if a previous holder panicked: holders run user code only while the state is consistent.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
