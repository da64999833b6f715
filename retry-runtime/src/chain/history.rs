use alloc::sync::Arc;
use core::mem;
use core::time::Duration;

use crate::call::attempt::Attempt;
use crate::call::gave_up::GaveUp;
use crate::classify::verdict::Verdict;
use crate::observe::reason::Reason;
use crate::time::attempt_clock::Clock;

/// What a chain's call keeps of earlier attempts.
pub trait History<E> {
    fn before_first(clock: impl FnOnce() -> Clock) -> Self;
    /// An attempt begins, of a call with so many retries.
    fn begin(&mut self, max: impl FnOnce() -> Option<u32>);
    /// What time it is.
    fn tick(&mut self, clock: impl FnOnce() -> Clock);
    /// The verdict on the error that the attempt ended with.
    fn judged(&self, verdict: Verdict);
    /// Another attempt follows that error and that pause. The error is given back where it is not kept here.
    fn failed(&mut self, error: E, pause: Duration) -> Option<E>;
    /// Another attempt follows a value that was rejected.
    fn rejected(&mut self);
    /// The error of the last attempt, if it failed with one that is kept here.
    fn take_last_error(&mut self) -> Option<E>;
    /// How many attempts began.
    fn attempts(&self) -> u32;
}

/// The same where errors are kept.
pub trait KeepsErrors<E>: History<E> {
    /// The end of the call. No errors are kept any more.
    fn gave_up(&mut self, error: E, reason: Reason) -> GaveUp<E>;
}

/// Nothing is kept.
#[derive(Debug)]
pub struct NoHistory;

impl<E> History<E> for NoHistory {
    #[inline]
    fn before_first(_: impl FnOnce() -> Clock) -> Self {
        Self
    }

    #[inline]
    fn begin(&mut self, _: impl FnOnce() -> Option<u32>) {}

    #[inline]
    fn tick(&mut self, _: impl FnOnce() -> Clock) {}

    #[inline]
    fn judged(&self, _: Verdict) {}

    #[inline]
    fn failed(&mut self, error: E, _: Duration) -> Option<E> {
        Some(error)
    }

    #[inline]
    fn rejected(&mut self) {}

    #[inline]
    fn take_last_error(&mut self) -> Option<E> {
        None
    }

    #[inline]
    fn attempts(&self) -> u32 {
        0
    }
}

impl<E> History<E> for Attempt<E> {
    fn before_first(clock: impl FnOnce() -> Clock) -> Self {
        Self::before_first(clock(), ())
    }

    fn begin(&mut self, max: impl FnOnce() -> Option<u32>) {
        self.begin(max());
    }

    fn tick(&mut self, clock: impl FnOnce() -> Clock) {
        self.set_clock(clock());
    }

    fn judged(&self, verdict: Verdict) {
        self.judged(verdict);
    }

    fn failed(&mut self, error: E, pause: Duration) -> Option<E> {
        self.failed(error);
        self.paused(pause);
        None
    }

    fn rejected(&mut self) {
        self.rejected();
    }

    fn take_last_error(&mut self) -> Option<E> {
        self.has_failed().then(|| self.take_last_error()).flatten()
    }

    fn attempts(&self) -> u32 {
        self.number()
    }
}

impl<E> KeepsErrors<E> for Attempt<E> {
    fn gave_up(&mut self, error: E, reason: Reason) -> GaveUp<E> {
        let without = self.without_errors();
        mem::replace(self, without).gave_up(error, reason)
    }
}

/// Shared with the attempt that runs. Where that has lent it to somebody who still has it when the attempt has ended, they
/// keep the errors so far, and the call goes on without.
impl<E> History<E> for Arc<Attempt<E>> {
    fn before_first(clock: impl FnOnce() -> Clock) -> Self {
        Self::new(Attempt::before_first(clock(), ()))
    }

    fn begin(&mut self, max: impl FnOnce() -> Option<u32>) {
        own(self).begin(max());
    }

    fn tick(&mut self, clock: impl FnOnce() -> Clock) {
        own(self).set_clock(clock());
    }

    fn judged(&self, verdict: Verdict) {
        Attempt::judged(self, verdict);
    }

    fn failed(&mut self, error: E, pause: Duration) -> Option<E> {
        History::failed(own(self), error, pause)
    }

    fn rejected(&mut self) {
        own(self).rejected();
    }

    fn take_last_error(&mut self) -> Option<E> {
        History::take_last_error(own(self))
    }

    fn attempts(&self) -> u32 {
        self.number()
    }
}

impl<E> KeepsErrors<E> for Arc<Attempt<E>> {
    fn gave_up(&mut self, error: E, reason: Reason) -> GaveUp<E> {
        KeepsErrors::gave_up(own(self), error, reason)
    }
}

fn own<E>(attempt: &mut Arc<Attempt<E>>) -> &mut Attempt<E> {
    if Arc::get_mut(attempt).is_none() {
        *attempt = Arc::new(attempt.without_errors());
    }
    Arc::get_mut(attempt).expect("nobody else has it")
}
