use core::mem;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::Mutex;
use std::thread::{self, Thread};

use crate::call::attempts::Attempts;
use crate::call::protections::Guards;
use crate::chain::under_way::Awaited;
use crate::classify::rejected::RejectedBy;
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

    /// Waits until an attempt has its turn, or may enter again. Returns how long it waited for its turn.
    pub(super) fn wait<G: Guards>(
        &self,
        attempts: &mut Attempts<G>,
        awaited: Option<Awaited>,
        timer: &dyn BlockingTimer,
        deadline: Option<Moment>,
    ) -> Result<Option<Duration>, RejectedBy> {
        let Some(awaited) = awaited else {
            return Ok(None);
        };
        // Whenever it is woken, this thread asks whether it is cancelled.
        let thread = thread::current();
        let id = thread.id();
        lock(&self.waiting).push(thread);
        let waited = match awaited {
            Awaited::Turn => attempts.wait_blocking(timer, deadline, self).map(Some),
            Awaited::Pause(end) => {
                let left = end.map_or(Duration::MAX, |end| end.since(timer.now()));
                // Asked in between even where nothing cancels the batch: a panic wakes no timer.
                let cancel = CancelFn::new(|| self.is_cancelled());
                if timer.sleep_or_cancelled(left, &cancel) {
                    Err(RejectedBy::Cancelled)
                } else {
                    let late = attempts.late(deadline, || timer.now());
                    late.map_or(Ok(None), |_| Err(RejectedBy::Deadline))
                }
            }
        };
        lock(&self.waiting).retain(|thread| thread.id() != id);
        waited
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
