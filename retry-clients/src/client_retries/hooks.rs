//! What a layer runs between two attempts of a call, and after the last.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use retry_runtime::{NextAttempt, Reason};

use crate::BoxError;

/// What runs between two attempts of a call. An `Err` ends the call with the outcome of the attempt before.
pub type HookFuture<'a> = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + 'a>>;
/// What takes the place of a call that gave up.
pub type FallbackFuture<A, E> = Pin<Box<dyn Future<Output = Result<A, E>> + Send>>;

/// A function that runs between two attempts: of the request that will be sent, what the attempt before came to, and
/// the attempt that follows.
#[diagnostic::on_unimplemented(
    message = "a hook is a function of the request, the outcome and the next attempt that returns a boxed future",
    label = "not such a function",
    note = "write `|request: &mut R, outcome: Result<&A, &E>, next| Box::pin(async move {{ …; Ok(()) }})`"
)]
pub trait Hook<Q, A, E>:
    for<'a> Fn(&'a mut Q, Result<&'a A, &'a E>, NextAttempt) -> HookFuture<'a> + Send + Sync + 'static
{
}

#[diagnostic::do_not_recommend]
impl<Q, A, E, F> Hook<Q, A, E> for F where
    F: for<'a> Fn(&'a mut Q, Result<&'a A, &'a E>, NextAttempt) -> HookFuture<'a>
        + Send
        + Sync
        + 'static
{
}

type Fallback<Q, A, E> = dyn Fn(Option<Q>, GaveUp<A, E>) -> FallbackFuture<A, E> + Send + Sync;

/// How a layer's call gave up: what its `fallback` gets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GaveUp<A, E> {
    /// What the last attempt came to.
    pub outcome: Result<A, E>,
    /// How many attempts were made, including those never sent because the service failed to become ready. 0 if the
    /// call ended before its first.
    pub attempts: u32,
    /// Why none follows.
    pub reason: Reason,
}

/// The hooks of a layer whose requests are `Q`, and whose calls end with `A` or `E`.
pub struct Hooks<Q, A, E> {
    pub(crate) before_pause: Option<Arc<dyn Hook<Q, A, E>>>,
    pub(crate) before_retry: Option<Arc<dyn Hook<Q, A, E>>>,
    pub(crate) fallback: Option<Arc<Fallback<Q, A, E>>>,
}

impl<Q, A, E> Hooks<Q, A, E> {
    /// Not for a last resort alone.
    pub(crate) fn run_between(&self) -> bool {
        self.before_pause.is_some() || self.before_retry.is_some()
    }
}

impl<Q, A, E> Default for Hooks<Q, A, E> {
    fn default() -> Self {
        Self {
            before_pause: None,
            before_retry: None,
            fallback: None,
        }
    }
}

impl<Q, A, E> Clone for Hooks<Q, A, E> {
    fn clone(&self) -> Self {
        Self {
            before_pause: self.before_pause.clone(),
            before_retry: self.before_retry.clone(),
            fallback: self.fallback.clone(),
        }
    }
}

impl<Q, A, E> fmt::Debug for Hooks<Q, A, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}
