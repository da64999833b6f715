use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use retry_runtime::macro_support::sync::lock;
use retry_runtime::seam::{BlockingTimer, CancelFn, Moment};
use retry_runtime::{Cancel, chain::IntoChain};

use crate::in_flight::AttemptsOf;

/// Ends waits after a panic on another thread, or when the batch is cancelled.
pub(super) struct Stop<'a, C> {
    cancel: &'a C,
    has_panicked: AtomicBool,
    /// The threads to wake after a panic.
    waiting: Mutex<Vec<Thread>>,
}

impl<'a, C: Cancel> Stop<'a, C> {
    pub(super) fn new(cancel: &'a C) -> Self {
        Self {
            cancel,
            has_panicked: AtomicBool::new(false),
            waiting: Mutex::default(),
        }
    }

    pub(super) fn has_panicked(&self) -> bool {
        self.has_panicked.load(Ordering::Relaxed)
    }

    /// Runs `work` on this thread. If `work` panics, the other threads stop working.
    pub(super) fn on_panic<T>(&self, work: impl FnOnce() -> T) -> T {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            self.has_panicked.store(true, Ordering::Relaxed);
            // A thread that starts to wait after this lock is released finds `has_panicked` set.
            lock(&self.waiting).iter().for_each(Thread::unpark);
            resume_unwind(panic)
        })
    }

    /// Waits until the limiter admits the attempt, or until the attempt's pause ends.
    pub(super) fn wait<Q: IntoChain<Timer: BlockingTimer>>(
        &self,
        attempt: &mut AttemptsOf<'_, Q>,
        end: Option<Moment>,
    ) {
        // This thread checks for cancellation whenever another thread wakes it.
        let thread = thread::current();
        let id = thread.id();
        lock(&self.waiting).push(thread);
        if attempt.pauses() {
            // Poll for cancellation even if nothing can cancel the batch, because a panic can't wake a timer.
            attempt.pause_until(end, &CancelFn::new(|| self.is_cancelled()));
        } else {
            attempt.wait_blocking(self);
        }
        lock(&self.waiting).retain(|thread| thread.id() != id);
    }
}

impl<C: Cancel> Cancel for Stop<'_, C> {
    fn is_cancelled(&self) -> bool {
        self.has_panicked() || self.cancel.is_cancelled()
    }

    /// A panic needs no polling, because it wakes all waiting threads.
    fn is_never(&self) -> bool {
        self.cancel.is_never()
    }
}
