use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, Ordering};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::thread::{self, Thread};

use crate::chain::into_chain::IntoChain;
use crate::sync::lock;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::{Cancel, CancelFn};
use crate::time::moment::Moment;
use crate::work::in_flight::AttemptsOf;

/// What ends waits: a panic on another thread, or what cancels the batch.
pub(super) struct Stop<'a, C> {
    cancel: &'a C,
    has_panicked: AtomicBool,
    /// The threads that a panic wakes.
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

    /// Works on this thread. A panic keeps the others from work in vain.
    pub(super) fn on_panic<T>(&self, work: impl FnOnce() -> T) -> T {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            self.has_panicked.store(true, Ordering::Relaxed);
            // What begins to wait after this lock sees it.
            lock(&self.waiting).iter().for_each(Thread::unpark);
            resume_unwind(panic)
        })
    }

    /// Waits until an attempt has its turn, or may enter again at the end of its pause.
    pub(super) fn wait<Q: IntoChain<Timer: BlockingTimer>>(
        &self,
        attempt: &mut AttemptsOf<'_, Q>,
        end: Option<Moment>,
    ) {
        // Whenever it is woken, this thread asks if it is cancelled.
        let thread = thread::current();
        let id = thread.id();
        lock(&self.waiting).push(thread);
        if attempt.pauses() {
            // Asked in between even if nothing cancels the batch: a panic wakes no timer.
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

    /// A panic wakes all that wait.
    fn is_never(&self) -> bool {
        self.cancel.is_never()
    }
}
