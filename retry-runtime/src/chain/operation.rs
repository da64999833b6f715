use alloc::sync::Arc;
use core::marker::PhantomData;

use crate::call::attempt::Attempt;
use crate::chain::key::Room;
use crate::chain::name::place_of;

/// An async closure, or another function that returns a future, which [`Policy::call`](crate::Policy::call) calls for
/// each attempt.
#[diagnostic::on_unimplemented(
    message = "a policy can't call this for each attempt",
    label = "not `FnMut() -> impl Future`, or it lends what it captures",
    note = "a future is awaited only once: hand over a closure that makes it, as in `.call(|| get(url))`",
    note = "an async closure that changes what it captures lends it to its future: capture a `Cell` or a lock",
    note = "or write `retrying!(policy = policy, async {{ … }})`, whose block may change what it borrows"
)]
pub trait Operation<R>: FnMut() -> R {}

#[diagnostic::do_not_recommend]
impl<F: FnMut() -> R, R> Operation<R> for F {}

/// What a blocking attempt returns: a `Result`. Has parameters, since associated types would add an error of their own.
#[diagnostic::on_unimplemented(
    message = "a blocking call needs a closure that returns a `Result`, and `{Self}` is none",
    label = "returns no `Result`",
    note = "an async function is called with `.call(async || get(url).await).await`"
)]
pub trait BlockingOutcome<T, E> {
    /// The `Result`.
    fn into_result(self) -> Result<T, E>;
    /// Makes an outcome of a `Result`.
    fn from_result(result: Result<T, E>) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T, E> BlockingOutcome<T, E> for Result<T, E> {
    #[inline]
    fn into_result(self) -> Self {
        self
    }

    #[inline]
    fn from_result(result: Self) -> Self {
        result
    }
}

/// What makes the attempts of a chain's call.
pub(super) trait Operated {
    /// Room for what is known of earlier attempts. Not in [`MakesAttempts`], whose bounds on a closure would be in the type
    /// of the call's future, which is then not found `Send` in every future around it.
    type History;

    /// What the call is named by default.
    fn default_name() -> &'static str;
}

/// Makes attempts that fail with errors of type `E`.
pub(super) trait MakesAttempts<E, R>: Operated<History: Room<Arc<Attempt<E>>>> {
    /// Begins one: its outcome, or a future of it.
    fn begin(&mut self, history: &Self::History) -> R;
}

/// A function of nothing, beside a history `H` that others need.
pub(super) struct Plain<F, H>(pub(super) F, pub(super) PhantomData<fn() -> H>);

impl<F, H> Operated for Plain<F, H> {
    type History = H;

    fn default_name() -> &'static str {
        place_of::<F>()
    }
}

impl<E, R, F: FnMut() -> R, H: Room<Arc<Attempt<E>>>> MakesAttempts<E, R> for Plain<F, H> {
    #[inline]
    fn begin(&mut self, _: &H) -> R {
        self.0()
    }
}

/// A function of what is known of the attempt.
pub(super) struct OfAttempt<F, E>(pub(super) F, pub(super) PhantomData<fn() -> E>);

impl<F, E> Operated for OfAttempt<F, E> {
    type History = Option<Arc<Attempt<E>>>;

    fn default_name() -> &'static str {
        place_of::<F>()
    }
}

impl<E, R, F: FnMut(Arc<Attempt<E>>) -> R> MakesAttempts<E, R> for OfAttempt<F, E> {
    fn begin(&mut self, history: &Self::History) -> R {
        let attempt = history.as_ref().expect("made before the first attempt");
        self.0(Arc::clone(attempt))
    }
}
