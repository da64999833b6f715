//! The steps after an attempt: verdicts from keys and from the derive, validation, hooks, and the end of a call.
//!
//! Some functions only call a closure, so that the compiler infers the types of the closure's arguments.

use core::fmt::Display;
use core::future::{Ready, ready};
use core::marker::PhantomData;
use core::time::Duration;

use retry_classify::macro_support::{FromRejected, IntoVerdict, else_by};
use retry_vocabulary::range::MIN_REPEATS;

use super::services::{ViaFn, ViaTrait};
use super::values::Count;
use crate::call::stop::Stop;
use crate::{
    Attempt, Classify, GaveUp, Verdict,
    own_loop::{Call, NextAttempt, Site},
};

/// The whole state of a simple call: its policy is known at compile time, and its delays depend only on the number of
/// retries. So no section has its own `max`, jitter is not decorrelated, and values are not validated. A full [`Call`]
/// is built only after a failure, outside of the success path.
///
/// Methods take `self`, so that method lookup finds them before those of a user's trait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retries(u32);

impl Retries {
    #[inline]
    pub const fn new() -> Self {
        Self(0)
    }

    /// The call after one more retry.
    #[inline]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    const fn call(self) -> Call {
        Call::after(self.0).with_single_count()
    }

    /// The pause after a failure, or `None` if the call gives up. For calls that don't need the reason, so that each
    /// call site has less code. The call continues as [`next`](Self::next).
    #[cold]
    #[inline(never)]
    pub fn next_delay(
        self,
        site: &Site<'_>,
        verdict: Verdict,
        error: &dyn Display,
    ) -> Option<Duration> {
        self.call().failed(site, verdict, error).ok()
    }

    #[inline]
    pub fn recovered(self, site: &Site<'_>) {
        if self.0 != 0 {
            self.report_recovered(site);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_recovered(self, site: &Site<'_>) {
        self.full(site).succeeded(site);
    }

    pub fn full(self, site: &Site<'_>) -> Call {
        self.call().with_max(match self.0 {
            0 => site.policy.retries_allowed(),
            _ => site.policy_in_force().retries_allowed(),
        })
    }
}

/// Runs the code after a failure, outside of the success path: `decide` becomes a separate function, and this one is
/// inlined away.
#[cold]
#[inline]
pub fn cold<T>(decide: impl FnOnce() -> T) -> T {
    decide()
}

/// Like [`cold`], and passes the site to `decide`.
#[cold]
#[inline]
pub fn cold_at<T>(
    site: &'static Site<'static>,
    decide: impl FnOnce(&'static Site<'static>) -> T,
) -> T {
    decide(site)
}

/// The return value of `on`, for keys that require more than a `bool`: see
/// [`required`](crate::macro_support::required).
pub fn answer<E, V: IntoVerdict>(error: &E, on: impl FnOnce(&E) -> V) -> V {
    on(error)
}

pub fn classify<E: Classify>(error: &E) -> Verdict {
    error.classify()
}

pub fn accepts<T>(value: &T, until: impl FnOnce(&T) -> bool) -> bool {
    until(value)
}

pub fn of_attempt(answer: impl IntoVerdict, is_dropped: bool) -> Verdict {
    answer.into_verdict().of_attempt(is_dropped)
}

/// The verdict on a stream's failed attempt. If the attempt had yielded an item, the request was not refused,
/// regardless of the error.
pub fn of_stream(verdict: Verdict, yielded: bool) -> Verdict {
    if yielded {
        verdict.ambiguous()
    } else {
        verdict
    }
}

/// The return type of a `validate` or `correct` function that may be async or not: a path, or a closure without
/// `async`. Other functions don't use this trait, because the compiler can't infer a body's types through a trait.
#[diagnostic::on_unimplemented(
    message = "the function of `validate` or `correct` must return `Result<{T}, {E}>`, not `{Self}`",
    label = "neither `Result<{T}, {E}>` nor a future of one",
    note = "`validate` returns `Result<(), E>`, `correct` the repaired value as `Result<T, E>`, with the error type of the function under `#[retry]`; both may be async"
)]
pub trait Settle<T, E, Via> {
    type Settled: Future<Output = Result<T, E>>;
    fn settle(self) -> Self::Settled;
}

impl<T, E> Settle<T, E, ViaTrait> for Result<T, E> {
    type Settled = Ready<Self>;

    fn settle(self) -> Ready<Self> {
        ready(self)
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future<Output = Result<T, E>>, T, E> Settle<T, E, ViaFn> for F {
    type Settled = F;

    fn settle(self) -> F {
        self
    }
}

// The return type is opaque, so that only the bound causes a compile error.
pub fn settle<Via, T, E, S: Settle<T, E, Via>>(
    _: Via,
    outcome: S,
) -> impl Future<Output = Result<T, E>> {
    outcome.settle()
}

pub struct Other<'a, S>(PhantomData<&'a S>);

/// Distinguishes a `Result` from a possible future by method lookup. With the bound alone, a `Result` with another
/// error type would be treated as a future.
pub fn kind<S>(_: &S) -> Kind<'_, S> {
    Kind(Other(PhantomData))
}

impl<T, E> Kind<'_, Result<T, E>> {
    pub fn __retry_via(&self) -> ViaTrait {
        ViaTrait
    }
}

impl<S> Other<'_, S> {
    pub fn __retry_via(&self) -> ViaFn {
        ViaFn
    }
}

pub fn check<'a, T, E>(value: &'a T, check: impl FnOnce(&'a T) -> Result<(), E>) -> Result<(), E> {
    check(value)
}

pub fn check_async<'a, T, E, F: Future<Output = Result<(), E>>>(
    value: &'a T,
    check: impl FnOnce(&'a T) -> F,
) -> impl Future<Output = Result<(), E>> {
    check(value)
}

pub fn check_either<'a, T, R>(value: &'a T, check: impl FnOnce(&'a T) -> R) -> R {
    check(value)
}

pub fn correct<'a, T, E>(
    value: T,
    error: &'a E,
    correct: impl FnOnce(T, &'a E) -> Result<T, E>,
) -> Result<T, E> {
    correct(value, error)
}

pub fn correct_async<'a, T, E: 'a, F: Future<Output = Result<T, E>>>(
    value: T,
    error: &'a E,
    correct: impl FnOnce(T, &'a E) -> F,
) -> impl Future<Output = Result<T, E>> {
    correct(value, error)
}

pub fn correct_either<'a, T, E, R>(
    value: T,
    error: &'a E,
    correct: impl FnOnce(T, &'a E) -> R,
) -> R {
    correct(value, error)
}

else_by! {
    Kind, Other;
}

pub fn is_repeated<E, K>(
    attempt: &mut Attempt<E, K>,
    error: &E,
    times: impl Count,
    same: fn(&E, &E) -> bool,
) -> bool {
    attempt.is_repeated(error, times.count().max(MIN_REPEATS), same)
}

// `F` has no bound, so that a wrong future or outcome causes one compile error, at `.await`.
pub fn hook<'a, E, F>(
    (error, next): (&'a E, NextAttempt),
    hook: impl FnOnce(&'a E, NextAttempt) -> F,
) -> F {
    hook(error, next)
}

/// The error of a call that ends before its next attempt.
#[cold]
pub fn last<E>(error: Option<E>) -> E {
    error.unwrap_or_else(|| unreachable!("only a rejection ends a call before its first attempt"))
}

/// The error of a call that ends before an attempt: the last attempt's error, or else the rejection.
#[cold]
pub fn last_or_rejected<E: FromRejected>(error: Option<E>, stop: &Stop) -> E {
    error.unwrap_or_else(|| E::from_rejected(stop.rejected()))
}

/// The outcome of a call that `give_up` did not end.
pub fn unfailed<T, E, X>(outcome: Result<T, E>) -> Result<T, X> {
    outcome.map_err(|_| unreachable!("every failed call ends with `give_up`"))
}

/// Calls the function of `give_up`, or an async `fallback`.
// `V` has no bound, so that a wrong future or outcome causes one compile error, at `.await`.
pub fn end<E, T, V>(gave_up: GaveUp<E, T>, end: impl FnOnce(GaveUp<E, T>) -> V) -> V {
    end(gave_up)
}

pub fn fall_back_blocking<T, E, V>(
    gave_up: GaveUp<E, V>,
    fallback: impl FnOnce(GaveUp<E, V>) -> Result<T, E>,
) -> Result<T, E> {
    fallback(gave_up)
}
