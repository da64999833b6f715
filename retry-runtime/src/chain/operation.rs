use alloc::sync::Arc;
use core::marker::PhantomData;

use crate::call::attempt::Attempt;
use crate::call::guards::Room;
use crate::chain::context::DefaultName;
use crate::chain::name::place_of;

/// An async closure, or another function that returns a future, which [`Policy::call`](crate::Policy::call) calls for
/// each attempt.
#[diagnostic::on_unimplemented(
    message = "a policy can't call this for each attempt",
    label = "not `FnMut() -> impl Future`, or it lends what it captures",
    note = "an async closure that changes what it captures lends it to its future: capture a `Cell` or a lock",
    note = "or write `retrying!(policy = policy, async {{ … }})`, whose block may change what it borrows"
)]
pub trait Operation<R>: FnMut() -> R {}

#[diagnostic::do_not_recommend]
impl<F: FnMut() -> R, R> Operation<R> for F {}

/// Makes the attempts of a chain's call, whose errors are of type `E`.
pub(super) trait MakesAttempts<E, R>: DefaultName {
    /// Room for what is known of earlier attempts.
    type History: Room<Arc<Attempt<E>>>;

    /// Begins one: its outcome, or a future of it.
    fn begin(&mut self, history: &Self::History) -> R;
}

/// A function of nothing, beside a history `H` that others need.
pub(super) struct Plain<F, H> {
    operation: F,
    history: PhantomData<fn() -> H>,
}

impl<F, H> Plain<F, H> {
    #[inline]
    pub(super) fn new(operation: F) -> Self {
        Self {
            operation,
            history: PhantomData,
        }
    }
}

impl<E, R, F: FnMut() -> R, H: Room<Arc<Attempt<E>>>> MakesAttempts<E, R> for Plain<F, H> {
    type History = H;

    #[inline]
    fn begin(&mut self, _: &H) -> R {
        (self.operation)()
    }
}

impl<F, H> DefaultName for Plain<F, H> {
    fn default_name() -> &'static str {
        place_of::<F>()
    }
}

/// A function of what is known of the attempt.
pub(super) struct OfAttempt<F>(pub(super) F);

impl<E, R, F: FnMut(Arc<Attempt<E>>) -> R> MakesAttempts<E, R> for OfAttempt<F> {
    type History = Option<Arc<Attempt<E>>>;

    fn begin(&mut self, history: &Self::History) -> R {
        let attempt = history.as_ref().expect("made before the first attempt");
        (self.0)(Arc::clone(attempt))
    }
}

impl<F> DefaultName for OfAttempt<F> {
    fn default_name() -> &'static str {
        place_of::<F>()
    }
}
