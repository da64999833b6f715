//! The keys `validate` and `correct`.
//!
//! The bounds here let the compiler infer the types of a closure's arguments. A path, or a closure that is not async,
//! returns a `Result` or a future of one. Only there a trait decides which, because the compiler can't infer a body's
//! types through it.

use core::future::{Future, Ready, ready};
use core::marker::PhantomData;
use core::ops::Deref;

use super::{ViaFn, ViaTrait};
use crate::classify::Classify;
use crate::classify::verdict::Verdict;

/// What the function of `validate` or `correct` returns where it may be async or not.
#[diagnostic::on_unimplemented(
    message = "the function of `validate` or `correct` returns `{Self}`, and `Result<{T}, {E}>` is needed",
    label = "neither `Result<{T}, {E}>` nor a future of it",
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

// Opaque, so that an error about the bound is the only one.
pub fn settle<Via, T, E, S: Settle<T, E, Via>>(
    _: Via,
    outcome: S,
) -> impl Future<Output = Result<T, E>> {
    outcome.settle()
}

/// Tells a `Result` from what may be a future, by the method that the compiler finds first. If the bound alone decided, a
/// `Result` with another error type would be taken for a future.
pub struct Kind<'a, S>(Other<'a, S>);

pub struct Other<'a, S>(PhantomData<&'a S>);

pub fn kind<S>(_: &S) -> Kind<'_, S> {
    Kind(Other(PhantomData))
}

impl<T, E> Kind<'_, Result<T, E>> {
    #[expect(clippy::unused_self, reason = "its type is the question")]
    pub fn __retry_via(&self) -> ViaTrait {
        ViaTrait
    }
}

impl<S> Other<'_, S> {
    #[expect(clippy::unused_self, reason = "its type is the question")]
    pub fn __retry_via(&self) -> ViaFn {
        ViaFn
    }
}

impl<'a, S> Deref for Kind<'a, S> {
    type Target = Other<'a, S>;

    fn deref(&self) -> &Self::Target {
        &self.0
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

/// What follows from an error of `validate`: the verdict is [`Verdict::INVALID`], unless its type is `Classify` and says
/// that it is final.
pub fn complaint<E>(error: &E) -> Complaint<'_, E> {
    Complaint(UnknownComplaint(error))
}

pub struct Complaint<'a, E>(UnknownComplaint<'a, E>);

pub struct UnknownComplaint<'a, E>(&'a E);

impl<E: Classify> Complaint<'_, E> {
    pub fn __retry_verdict(&self) -> Verdict {
        if self.0.0.is_final() {
            Verdict::STOP
        } else {
            Verdict::INVALID
        }
    }
}

impl<E> UnknownComplaint<'_, E> {
    #[expect(clippy::unused_self, reason = "its type is the answer")]
    pub fn __retry_verdict(&self) -> Verdict {
        Verdict::INVALID
    }
}

impl<'a, E> Deref for Complaint<'a, E> {
    type Target = UnknownComplaint<'a, E>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
