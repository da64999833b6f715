//! Pauses that a test skips: see `testing::skip_sleeps`.

use alloc::sync::Arc;
use core::cell::{Cell, RefCell};
use core::time::Duration;

use crate::sync::{Mutex, lock};

thread_local! {
    static SKIPPED: RefCell<Option<Skipped>> = const { RefCell::new(None) };
    /// Whether what sleeps now is not skipped.
    static SUSPENDED: Cell<bool> = const { Cell::new(false) };
}

/// How much was skipped, by all who hold a clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skipped(Arc<Mutex<Duration>>);

impl Skipped {
    pub(crate) fn total(&self) -> Duration {
        *lock(&self.0)
    }

    fn add(&self, duration: Duration) {
        let mut total = lock(&self.0);
        *total = total.saturating_add(duration);
    }
}

/// Has this thread skip pauses and add them up there, or sleep. Returns what it did before.
pub(crate) fn replace(skipped: Option<Skipped>) -> Option<Skipped> {
    SKIPPED.replace(skipped)
}

/// What adds up the pauses that this thread skips. Nothing while the thread ends.
pub(crate) fn here() -> Option<Skipped> {
    SKIPPED.try_with(|here| here.borrow().clone()).ok()?
}

/// How long to sleep really where a call asks for `duration`.
pub(crate) fn to_sleep(duration: Duration) -> Duration {
    match here() {
        Some(skipped) if !SUSPENDED.get() => {
            skipped.add(duration);
            Duration::ZERO
        }
        _ => duration,
    }
}

/// Runs what sleeps for a timeout, which is not skipped: it would fire at once.
pub(crate) fn unskipped<T>(run: impl FnOnce() -> T) -> T {
    struct Resumed(bool);

    impl Drop for Resumed {
        fn drop(&mut self) {
            SUSPENDED.set(self.0);
        }
    }

    let _resumed = Resumed(SUSPENDED.replace(true));
    run()
}

/// The time that was skipped so far.
pub(crate) fn skipped() -> Duration {
    here().map_or(Duration::ZERO, |skipped| skipped.total())
}
