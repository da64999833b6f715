//! Pauses that a test skips: see `testing::skip_sleeps`.

use alloc::sync::Arc;
use core::cell::{Cell, RefCell};
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use crate::sync::{Mutex, lock};

/// True once any test has skipped pauses. Outside of tests, calls check only this flag.
static IS_USED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static SKIPPED: RefCell<Option<Skipped>> = const { RefCell::new(None) };
    /// True during a sleep that is not skipped.
    static IS_SUSPENDED: Cell<bool> = const { Cell::new(false) };
}

/// The sum of the skipped pauses, shared by all clones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skipped(Arc<Mutex<Duration>>);

impl Skipped {
    pub(crate) fn total(&self) -> Duration {
        *lock(&self.0)
    }
}

/// Makes this thread skip pauses and add them to `skipped`; with `None`, the thread sleeps. Returns the previous value.
pub(crate) fn replace(skipped: Option<Skipped>) -> Option<Skipped> {
    IS_USED.store(true, Ordering::Relaxed);
    SKIPPED.replace(skipped)
}

/// The sum to which this thread adds skipped pauses. `None` if the thread sleeps.
#[cold]
#[inline(never)]
pub(crate) fn current() -> Option<Skipped> {
    SKIPPED.try_with(|current| current.borrow().clone()).ok()?
}

/// The time to actually sleep for a pause of `duration`. A skipped pause is added to the sum.
#[inline]
pub(crate) fn to_sleep(duration: Duration) -> Duration {
    if !IS_USED.load(Ordering::Relaxed) || IS_SUSPENDED.get() {
        return duration;
    }
    current().map_or(duration, |skipped| {
        let mut total = lock(&skipped.0);
        *total = total.saturating_add(duration);
        Duration::ZERO
    })
}

pin_project! {
    /// A sleep that is not skipped. Not an async function, which would store the sleep twice.
    pub(crate) struct Unskipped<F> {
        #[pin]
        pub(crate) sleep: F,
    }
}

impl<F: Future<Output = ()>> Future for Unskipped<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let before = IS_SUSPENDED.replace(true);
        let polled = self.project().sleep.poll(context);
        IS_SUSPENDED.set(before);
        polled
    }
}

/// The time that this thread has skipped so far.
#[inline]
pub(crate) fn skipped() -> Duration {
    if !IS_USED.load(Ordering::Relaxed) {
        return Duration::ZERO;
    }
    current().map_or(Duration::ZERO, |skipped| skipped.total())
}
