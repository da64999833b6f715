use core::mem;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::thread::{self, Thread};

use crate::call::driver::Driver;
use crate::call::protections::Protects;
use crate::sync::lock;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::{Cancel, CancelFn};
use crate::time::moment::Moment;

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
        let stops = Stops(self);
        let made = work();
        // `thread::panicking()` is also true of a batch that a destructor runs while its thread unwinds.
        mem::forget(stops);
        made
    }

    /// Waits until an attempt has its turn, or may enter again at the end of its pause.
    pub(super) fn wait<P: Protects, T: BlockingTimer>(
        &self,
        attempt: &mut Driver<P, T>,
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

struct Stops<'s, 'a, C>(&'s Stop<'a, C>);

impl<C> Drop for Stops<'_, '_, C> {
    fn drop(&mut self) {
        self.0.has_panicked.store(true, Ordering::Relaxed);
        // Whoever begins to wait after this lock sees it.
        lock(&self.0.waiting).iter().for_each(Thread::unpark);
    }
}
