//! What a call keeps of earlier attempts, and what `give_up` and `fallback` get from it.

use core::time::Duration;

use retry_vocabulary::range::LEAST_REPEATS;

use super::Count;
use crate::call::attempt::{Attempt, Kept};
use crate::call::gave_up::GaveUp;
use crate::classify::verdict::Verdict;
use crate::observe::reason::Reason;
use crate::policy::schedule;
use crate::time::attempt_clock::Clock;
use crate::time::moment::Moment;

/// A clock that can be read anywhere.
pub fn clock(now: fn() -> Moment) -> Clock {
    Clock::Live(now)
}

/// What a timer of the user's says now.
pub fn clock_at(now: Moment) -> Clock {
    Clock::Read(now)
}

/// None, because nothing needs the time.
pub fn no_clock() -> Clock {
    Clock::None
}

pub fn history<E>(clock: Clock) -> Attempt<E> {
    Attempt::before_first(clock, ())
}

pub fn begin<E, K>(attempt: &mut Attempt<E, K>, max: u32) {
    attempt.begin(schedule::limit(max));
}

/// Tells what a timer of the user's says now.
pub fn tick<E, K>(attempt: &mut Attempt<E, K>, now: Moment) {
    attempt.tick(now);
}

/// The error of the attempt before, if it failed with one, where the call ends with it after the pause.
pub fn take_last_error<E, K>(attempt: &mut Attempt<E, K>, failed: bool) -> Option<E> {
    failed.then(|| attempt.take_last_error()).flatten()
}

pub fn failed<E, K>(attempt: &mut Attempt<E, K>, error: E) {
    attempt.failed(error);
}

/// Keeps the error of an attempt beside others that went on.
pub fn kept_beside<E, K>(attempt: &mut Attempt<E, K>, error: E) {
    attempt.failed_beside(error);
}

/// Keeps the verdict on a failure.
pub fn judged<E, K>(attempt: &Attempt<E, K>, verdict: Verdict) -> Verdict {
    attempt.judged(verdict);
    verdict
}

/// Notes the pause that follows the failure.
pub fn paused<E, K>(attempt: &mut Attempt<E, K>, pause: &impl Paused) {
    attempt.paused(pause.length());
}

/// A pause, alone or with what was paid for the retry after it.
pub trait Paused {
    fn length(&self) -> Duration;
}

impl Paused for Duration {
    fn length(&self) -> Duration {
        *self
    }
}

impl<P> Paused for (Duration, P) {
    fn length(&self) -> Duration {
        self.0
    }
}

pub fn rejected<E, K>(attempt: &mut Attempt<E, K>) {
    attempt.rejected();
}

/// How long the attempt lasted, if it made progress. `streamed` is what a stream tells of it.
pub fn take_progress<E, K>(
    attempt: &mut Attempt<E, K>,
    streamed: Option<(Moment, bool)>,
    now: impl FnOnce() -> Moment,
) -> Option<Duration> {
    attempt.take_progress(streamed, now)
}

pub fn is_repeated<E, K>(
    attempt: &mut Attempt<E, K>,
    error: &E,
    times: impl Count,
    same: fn(&E, &E) -> bool,
) -> bool {
    attempt.is_repeated(error, times.count().max(LEAST_REPEATS), same)
}

pub fn gave_up<E, K: Kept>(
    attempt: Attempt<E, K>,
    error: E,
    reason: Reason,
) -> GaveUp<E, K::Value> {
    attempt.gave_up(error, reason)
}

pub fn attempts<E, K>(attempt: &Attempt<E, K>) -> u32 {
    attempt.begun()
}

pub fn shape<E, T>(gave_up: GaveUp<E, T>, shape: impl FnOnce(GaveUp<E, T>) -> E) -> E {
    shape(gave_up)
}

// `F` has no bound: the error about a wrong future or outcome appears once, at `.await`.
pub fn fall_back<E, T, F>(gave_up: GaveUp<E, T>, fallback: impl FnOnce(GaveUp<E, T>) -> F) -> F {
    fallback(gave_up)
}

pub fn fall_back_blocking<T, E, V>(
    gave_up: GaveUp<E, V>,
    fallback: impl FnOnce(GaveUp<E, V>) -> Result<T, E>,
) -> Result<T, E> {
    fallback(gave_up)
}
