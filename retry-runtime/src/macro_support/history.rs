//! What a call keeps of earlier attempts, and what `give_up` and `fallback` get from it.

use retry_vocabulary::range::LEAST_REPEATS;

use super::Count;
use crate::call::attempt::Attempt;
use crate::call::gave_up::GaveUp;

pub fn is_repeated<E, K>(
    attempt: &mut Attempt<E, K>,
    error: &E,
    times: impl Count,
    same: fn(&E, &E) -> bool,
) -> bool {
    attempt.is_repeated(error, times.count().max(LEAST_REPEATS), same)
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
