use alloc::sync::Arc;
use core::marker::PhantomData;

use crate::call::attempt::Attempt;
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

/// Makes the attempts of a chain's call, whose history is `H`.
pub(super) trait Attempts<H, R> {
    /// Begins one: its outcome, or a future of it.
    fn begin(&mut self, history: &H) -> R;

    /// What the call is named by default.
    fn place() -> &'static str;
}

/// A function of nothing.
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

impl<H, R, F: FnMut() -> R> Attempts<H, R> for Plain<F, H> {
    #[inline]
    fn begin(&mut self, _: &H) -> R {
        (self.operation)()
    }

    fn place() -> &'static str {
        place_of::<F>()
    }
}

/// A function of what is known of the attempt.
pub(super) struct OfAttempt<F, E> {
    operation: F,
    errors: PhantomData<fn() -> E>,
}

impl<F, E> OfAttempt<F, E> {
    pub(super) fn new(operation: F) -> Self {
        Self {
            operation,
            errors: PhantomData,
        }
    }
}

impl<E, R, F: FnMut(Arc<Attempt<E>>) -> R> Attempts<Arc<Attempt<E>>, R> for OfAttempt<F, E> {
    fn begin(&mut self, history: &Arc<Attempt<E>>) -> R {
        (self.operation)(Arc::clone(history))
    }

    fn place() -> &'static str {
        place_of::<F>()
    }
}
