//! What a call keeps of earlier attempts, and what `give_up` and `fallback` get from it.

use retry_vocabulary::range::LEAST_REPEATS;

use super::Count;
use crate::call::attempt::Attempt;
use crate::call::gave_up::GaveUp;
use crate::call::stop::Stop;
use crate::classify::conversions::FromRejected;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::timer::Timer;

pub fn is_repeated<E, K>(
    attempt: &mut Attempt<E, K>,
    error: &E,
    times: impl Count,
    same: fn(&E, &E) -> bool,
) -> bool {
    attempt.is_repeated(error, times.count().max(LEAST_REPEATS), same)
}

/// Sets the history's clock to that of the user's timer.
pub fn tick<E, K>(attempt: &mut Attempt<E, K>, timer: &impl Timer) {
    attempt.tick(timer.now());
}

pub fn tick_blocking<E, K>(attempt: &mut Attempt<E, K>, timer: &impl BlockingTimer) {
    attempt.tick(timer.now());
}

/// The error of a call that ends before its next attempt.
#[cold]
pub fn last<E>(error: Option<E>) -> E {
    error.unwrap_or_else(|| unreachable!("only a rejection ends a call before its first attempt"))
}

/// The error of a call that ends before an attempt: of the last one, or else the rejection.
#[cold]
pub fn last_or_rejected<E: FromRejected>(error: Option<E>, stop: &Stop) -> E {
    error.unwrap_or_else(|| E::from_rejected(stop.rejected()))
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
