//! Pauses that a test skips: see `testing::skip_sleeps`.

use alloc::sync::Arc;
use core::cell::{Cell, RefCell};
use core::time::Duration;
use std::sync::Mutex;

use crate::sync::lock;

thread_local! {
    static SKIP: Cell<Skip> = const { Cell::new(Skip::Off) };
    /// What adds up the skipped pauses; nothing where `SKIP` is off.
    static SKIPPED: RefCell<Option<Skipped>> = const { RefCell::new(None) };
}

/// Apart from what adds up, as every call asks for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skip {
    Off,
    On,
    /// On, but for what sleeps now.
    Suspended,
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
    let skip = if skipped.is_some() {
        Skip::On
    } else {
        Skip::Off
    };
    SKIP.set(skip);
    SKIPPED.replace(skipped)
}

/// What adds up the pauses that this thread skips.
pub(crate) fn here() -> Option<Skipped> {
    SKIPPED.with_borrow(Clone::clone)
}

/// How long to sleep really where a call asks for `duration`.
#[inline]
pub(crate) fn to_sleep(duration: Duration) -> Duration {
    if is_on() { skip(duration) } else { duration }
}

/// Runs what sleeps for a timeout, which is not skipped: it would fire at once.
#[inline]
pub(crate) fn unskipped<T>(run: impl FnOnce() -> T) -> T {
    let _resumes = is_on().then(Suspended::begin);
    run()
}

/// Skips again when dropped.
struct Suspended;

impl Suspended {
    #[cold]
    fn begin() -> Self {
        SKIP.set(Skip::Suspended);
        Self
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        SKIP.set(Skip::On);
    }
}

#[inline]
pub(crate) fn is_on() -> bool {
    SKIP.get() == Skip::On
}

#[cold]
#[inline(never)]
fn skip(duration: Duration) -> Duration {
    SKIPPED.with_borrow(|skipped| skipped.iter().for_each(|skipped| skipped.add(duration)));
    Duration::ZERO
}

/// The time that was skipped so far.
#[inline]
pub(crate) fn skipped() -> Duration {
    if SKIP.get() == Skip::Off {
        Duration::ZERO
    } else {
        total()
    }
}

// Apart, because the clock is read in each call with a deadline, and only tests skip.
#[cold]
#[inline(never)]
fn total() -> Duration {
    SKIPPED.with_borrow(|skipped| skipped.as_ref().map(Skipped::total).unwrap_or_default())
}
