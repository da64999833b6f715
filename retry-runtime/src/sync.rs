//! The locks and atomics of everything that calls share. `tests/interleavings` compiles the same sources with locks and
//! atomics that try every order of the threads' steps.

#[cfg(target_has_atomic = "64")]
pub use core::sync::atomic::AtomicU64;
pub use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::PoisonError;
pub use std::sync::{Mutex, MutexGuard};

/// Locks the mutex, even if a previous holder panicked: holders run user code only while the state is consistent.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(not(target_has_atomic = "64"))]
pub use self::locked::AtomicU64;

/// A replacement for processors without 64-bit atomics, such as some 32-bit ones.
#[cfg(any(test, not(target_has_atomic = "64")))]
#[allow(
    missing_docs,
    unreachable_pub,
    reason = "stands for one of the standard library, and is reached only where that lacks it"
)]
mod locked {
    use super::{Mutex, MutexGuard, Ordering, lock};

    #[derive(Debug)]
    pub struct AtomicU64(Mutex<u64>);

    impl AtomicU64 {
        pub const fn new(value: u64) -> Self {
            Self(Mutex::new(value))
        }

        pub fn load(&self, _: Ordering) -> u64 {
            *self.lock()
        }

        pub fn store(&self, value: u64, _: Ordering) {
            *self.lock() = value;
        }

        pub fn fetch_update(
            &self,
            _: Ordering,
            _: Ordering,
            update: impl FnOnce(u64) -> Option<u64>,
        ) -> Result<u64, u64> {
            let mut value = self.lock();
            let before = *value;
            *value = update(before).ok_or(before)?;
            Ok(before)
        }

        fn lock(&self) -> MutexGuard<'_, u64> {
            lock(&self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ordering::Relaxed, locked};

    #[test]
    fn what_has_no_atomics_of_64_bits_locks() {
        let number = locked::AtomicU64::new(1);
        number.store(u64::MAX - 1, Relaxed);
        let more = |value: u64| value.checked_add(1);
        assert_eq!(
            number.fetch_update(Relaxed, Relaxed, more),
            Ok(u64::MAX - 1)
        );
        assert_eq!(number.fetch_update(Relaxed, Relaxed, more), Err(u64::MAX));
        let five = |value: u64| (value == u64::MAX).then_some(5);
        assert_eq!(number.fetch_update(Relaxed, Relaxed, five), Ok(u64::MAX));
        assert_eq!(number.load(Relaxed), 5);
    }
}
