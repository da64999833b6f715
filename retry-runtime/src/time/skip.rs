//! Pauses that a test skips: see `testing::skip_sleeps`.

use std::cell::Cell;
use std::time::Duration;

thread_local! {
    static SKIP: Cell<bool> = const { Cell::new(false) };
    static SKIPPED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Whether this thread skips pauses, and how much it has skipped.
#[derive(Debug)]
pub(crate) struct Skipping {
    is_on: bool,
    skipped: Duration,
}

/// Begins to skip, with nothing skipped so far. Returns what was before.
pub(crate) fn begin() -> Skipping {
    restore(&Skipping {
        is_on: true,
        skipped: Duration::ZERO,
    })
}

pub(crate) fn restore(skipping: &Skipping) -> Skipping {
    Skipping {
        is_on: SKIP.replace(skipping.is_on),
        skipped: SKIPPED.replace(skipping.skipped),
    }
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
        SKIP.set(false);
        Self
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        SKIP.set(true);
    }
}

#[inline]
pub(crate) fn is_on() -> bool {
    SKIP.get()
}

#[cold]
#[inline(never)]
fn skip(duration: Duration) -> Duration {
    SKIPPED.set(SKIPPED.get().saturating_add(duration));
    Duration::ZERO
}

pub(crate) fn skipped() -> Duration {
    SKIPPED.get()
}
