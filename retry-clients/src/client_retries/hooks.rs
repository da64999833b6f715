//! The hooks that a layer runs between two attempts of a call, and after the last one.

use std::pin::Pin;
use std::sync::Arc;

use retry_runtime::{Policy, Reason, own_loop::NextAttempt};

use crate::BoxError;

/// The future of a hook. An `Err` ends the call with the outcome of the previous attempt.
pub type HookFuture<'a> = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + 'a>>;
/// The future of a fallback. Its output replaces the outcome of the call that gave up.
pub type FallbackFuture<A, E> = Pin<Box<dyn Future<Output = Result<A, E>> + Send>>;

/// A function that runs between two attempts. It gets the request that will be sent, the outcome of the previous
/// attempt, and the next attempt.
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

type PolicyFor<Q> = dyn Fn(&Q, &Policy) -> Policy + Send + Sync;
type Fallback<Q, A, E> = dyn Fn(Option<Q>, GaveUp<A, E>) -> FallbackFuture<A, E> + Send + Sync;

/// A call of a layer that gave up. Passed to its `fallback`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GaveUp<A, E> {
    /// The outcome of the last attempt.
    pub outcome: Result<A, E>,
    /// The number of attempts, including those never sent because the service failed to become ready. 0 if the call
    /// ended before its first attempt.
    pub attempts: u32,
    /// The reason why the call gave up.
    pub reason: Reason,
}

/// The hooks of a layer for requests `Q`, whose calls return `Result<A, E>`.
pub struct Hooks<Q, A, E> {
    pub(crate) policy_for: Option<Arc<PolicyFor<Q>>>,
    pub(crate) before_pause: Option<Arc<dyn Hook<Q, A, E>>>,
    pub(crate) before_retry: Option<Arc<dyn Hook<Q, A, E>>>,
    pub(crate) fallback: Option<Arc<Fallback<Q, A, E>>>,
}

impl<Q, A, E> Default for Hooks<Q, A, E> {
    fn default() -> Self {
        Self {
            policy_for: None,
            before_pause: None,
            before_retry: None,
            fallback: None,
        }
    }
}

impl<Q, A, E> Clone for Hooks<Q, A, E> {
    fn clone(&self) -> Self {
        Self {
            policy_for: self.policy_for.clone(),
            before_pause: self.before_pause.clone(),
            before_retry: self.before_retry.clone(),
            fallback: self.fallback.clone(),
        }
    }
}

opaque!(Hooks<Q, A, E>);
