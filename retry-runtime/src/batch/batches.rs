use crate::chain::into_chain::IntoChain;
use crate::chain::keys::{Keys, SharedKeys};
use crate::chain::on_error::ByClassify;
use crate::chain::policy_call::PolicyCall;
use crate::key::with;
use crate::policy::Policy;
use crate::time::cancel::Uncancelled;
use crate::time::default_timer::DefaultTimer;

/// A policy for batches: how many items go into a call, and how many calls are made at the same time.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Policy, retry_each};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let batches = Policy::fixed(Duration::from_millis(200))
///     .on(|error: &String| error.contains("overloaded"))
///     .batches(2)
///     .concurrency(8)
///     .timer(retry_runtime::TokioTimer);
/// let doubled = retry_each(batches, [1, 2, 3], async |pending| {
///     Ok(pending.into_iter().map(|number| Ok(2 * number)).collect())
/// });
/// assert_eq!(doubled.await, [Ok(2), Ok(4), Ok(6)]);
/// # }
/// ```
///
/// Made by [`Policy::batches`] and [`PolicyCall::batches`].
#[derive(Clone, Copy, Debug)]
pub struct Batches<On = ByClassify, W = DefaultTimer, C = Uncancelled, K = Keys> {
    pub(super) call: PolicyCall<On, C, W, K>,
    pub(super) size: usize,
    pub(super) concurrency: usize,
}

impl Policy {
    /// Sets how many items [`retry_each`](crate::retry_each) puts into one call at most. 0 counts as 1. A policy alone
    /// sends all in one call.
    pub fn batches(&self, size: usize) -> Batches {
        PolicyCall::of(*self).batches(size)
    }
}

impl<On, C, W, K> PolicyCall<On, C, W, K> {
    /// Sets how many items go into one call, as [`Policy::batches`] does.
    pub fn batches(self, size: usize) -> Batches<On, W, C, K> {
        Batches {
            call: self,
            size: size.max(1),
            concurrency: 1,
        }
    }
}

impl<On, C, K> Batches<On, DefaultTimer, C, K> {
    /// Uses another runtime's [`Timer`](crate::Timer), or for blocking calls a [`BlockingTimer`](crate::BlockingTimer).
    pub fn timer<V>(self, timer: V) -> Batches<On, V, C, K> {
        with!(self: Batches { call: self.call.timer(timer) } size concurrency)
    }
}

impl<On, W, C, K> Batches<On, W, C, K> {
    /// Sets how many calls may run at the same time. 0 counts as 1. Default 1.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }
}

/// What [`retry_each`](crate::retry_each) takes as its policy: a [`Policy`], with or without [`Policy::on`] and
/// [`Batches`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no policy for batches",
    label = "no policy",
    note = "give a `Policy`, a `&Policy`, or what `Policy::on` or `Policy::batches` returns"
)]
pub trait IntoBatches {
    /// Which errors are worth a retry.
    type On;
    /// How to sleep.
    type Timer;
    /// What cancels the batch.
    type Cancel;
    /// The keys that batches share with calls.
    type Keys: SharedKeys;

    /// The numbers, all items in one batch where none are given.
    fn into_batches(self) -> Batches<Self::On, Self::Timer, Self::Cancel, Self::Keys>;
}

/// The spans that a policy for batches opens.
pub(super) type SpansOf<P> = <<P as IntoBatches>::Keys as SharedKeys>::Span;

/// What the calls of a policy for batches share.
pub(super) type GuardsOf<P> = <<P as IntoBatches>::Keys as SharedKeys>::Guards;

impl<On, W, C, K: SharedKeys> IntoBatches for Batches<On, W, C, K> {
    type On = On;
    type Timer = W;
    type Cancel = C;
    type Keys = K;

    fn into_batches(self) -> Self {
        self
    }
}

/// All items in one call.
#[diagnostic::do_not_recommend]
impl<P: IntoChain> IntoBatches for P {
    type On = P::On;
    type Timer = P::Timer;
    type Cancel = P::Cancel;
    type Keys = P::Keys;

    fn into_batches(self) -> Batches<P::On, P::Timer, P::Cancel, P::Keys> {
        self.into_chain().batches(usize::MAX)
    }
}
