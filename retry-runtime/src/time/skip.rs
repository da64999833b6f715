//! Pauses that a test skips: see `testing::skip_sleeps`.

use alloc::sync::Arc;
use core::cell::{Cell, RefCell};
use core::time::Duration;
use std::sync::Mutex;

use crate::sync::lock;

thread_local! {
    static SKIP: Cell<Skip> = const { Cell::new(Skip::Off) };
    /// The sum of skipped pauses; `None` if `SKIP` is off.
    static SKIPPED: RefCell<Option<Skipped>> = const { RefCell::new(None) };
}

/// Separate from the sum, because every call reads it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skip {
    Off,
    On,
    /// On, except for the current sleep.
    Suspended,
}

/// The time that was skipped, shared by all clones.
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

/// Makes this thread skip pauses and add them to `skipped`, or sleep if it is `None`. Returns the previous value.
pub(crate) fn replace(skipped: Option<Skipped>) -> Option<Skipped> {
    let skip = if skipped.is_some() {
        Skip::On
    } else {
        Skip::Off
    };
    SKIP.set(skip);
    SKIPPED.replace(skipped)
}

/// The sum of the pauses that this thread skips.
pub(crate) fn here() -> Option<Skipped> {
    SKIPPED.with_borrow(Clone::clone)
}

/// The time to really sleep for a pause of `duration`.
#[inline]
pub(crate) fn to_sleep(duration: Duration) -> Duration {
    if is_on() { skip(duration) } else { duration }
}

/// Runs a sleep without skipping it: a timeout would fire at once.
#[inline]
pub(crate) fn unskipped<T>(run: impl FnOnce() -> T) -> T {
    let _resumes = is_on().then(Suspended::begin);
    run()
}

/// Resumes skipping when dropped.
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

/// The time skipped so far.
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
