//! What is kept of earlier attempts, and what is made of it when a call gives up.

use super::Count;
use crate::call::attempt::{Attempt, Clock, Kept};
use crate::call::gave_up::GaveUp;
use crate::observe::reason::Reason;
use crate::time::clock;

pub fn history<E>() -> Attempt<E> {
    Attempt::before_first(Clock::Live(clock::now), ())
}

pub fn begin<E, K>(attempt: &mut Attempt<E, K>, max: Option<u32>) {
    attempt.begin(max);
}

pub fn failed<E, K>(attempt: &mut Attempt<E, K>, error: E) {
    attempt.failed(error);
}

pub fn rejected<E, K>(attempt: &mut Attempt<E, K>) {
    attempt.rejected();
}

pub fn is_repeated<E, K>(
    attempt: &Attempt<E, K>,
    error: &E,
    times: impl Count,
    same: fn(&E, &E) -> bool,
) -> bool {
    attempt.is_repeated(error, times.count(), same)
}

pub fn gave_up<E, K: Kept>(
    attempt: Attempt<E, K>,
    error: E,
    reason: Reason,
) -> GaveUp<E, K::Value> {
    attempt.gave_up(error, reason)
}

pub fn shape<E, T>(gave_up: GaveUp<E, T>, shape: impl FnOnce(GaveUp<E, T>) -> E) -> E {
    shape(gave_up)
}

// `F` has no bound: that it is a future of the right outcome is said once, at `.await`.
pub fn fall_back<E, T, F>(gave_up: GaveUp<E, T>, fallback: impl FnOnce(GaveUp<E, T>) -> F) -> F {
    fallback(gave_up)
}

pub fn fall_back_blocking<T, E, V>(
    gave_up: GaveUp<E, V>,
    fallback: impl FnOnce(GaveUp<E, V>) -> Result<T, E>,
) -> Result<T, E> {
    fallback(gave_up)
}
