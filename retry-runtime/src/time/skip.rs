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
