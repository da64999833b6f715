use retry_runtime::{Policy, chain::IntoChain};

/// A policy for batches, with the number of items per call and the number of concurrent calls.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::Policy;
/// use retry_work::{IntoBatches, retry_each};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let batches = Policy::fixed(Duration::from_millis(200))
///     .on(|error: &String| error.contains("overloaded"))
///     .timer(retry_runtime::seam::DefaultTimer)
///     .batches(2)
///     .concurrency(8);
/// let doubled = retry_each(batches, [1, 2, 3], async |pending| {
///     Ok(pending.into_iter().map(|number| Ok(2 * number)).collect())
/// });
/// assert_eq!(doubled.await, [Ok(2), Ok(4), Ok(6)]);
/// # }
/// ```
/// Created by [`IntoBatches::batches`].
#[derive(Clone, Copy, Debug)]
pub struct Batches<Q = Policy> {
    pub(super) chain: Q,
    pub(super) size: usize,
    pub(super) concurrency: usize,
}

impl<Q> Batches<Q> {
    /// Sets the maximum number of concurrent calls. 0 counts as 1. Default 1.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }
}

/// The types that [`retry_each`](crate::retry_each) accepts as its policy: a [`Policy`], a `&Policy`, or a chain of
/// [keys](retry_runtime::chain::PolicyCall), each with or without [`batches`](Self::batches).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a policy for batches",
    label = "not a policy",
    note = "pass a `Policy`, a `&Policy`, or what `Policy::on` or `IntoBatches::batches` returns"
)]
pub trait IntoBatches: Sized {
    /// The type that classifies errors.
    type On;
    /// The timer's type.
    type Timer;
    /// The type that cancels the batch.
    type Cancel;
    /// The policy with its keys.
    #[doc(hidden)]
    type Chain: IntoChain<On = Self::On, Timer = Self::Timer, Cancel = Self::Cancel>;

    /// Converts to batches, with all items in one batch if no size was set.
    fn into_batches(self) -> Batches<Self::Chain>;

    /// Sets the maximum number of items that [`retry_each`](crate::retry_each) sends in one call. 0 counts as 1. By
    /// default, one call sends all items.
    fn batches(self, size: usize) -> Batches<Self::Chain> {
        Batches {
            size: size.max(1),
            ..self.into_batches()
        }
    }
}

impl<Q: IntoChain> IntoBatches for Batches<Q> {
    type On = Q::On;
    type Timer = Q::Timer;
    type Cancel = Q::Cancel;
    type Chain = Q;

    fn into_batches(self) -> Self {
        self
    }
}

/// All items are sent in one call.
#[diagnostic::do_not_recommend]
impl<P: IntoChain> IntoBatches for P {
    type On = P::On;
    type Timer = P::Timer;
    type Cancel = P::Cancel;
    type Chain = P;

    fn into_batches(self) -> Batches<P> {
        Batches {
            chain: self,
            size: usize::MAX,
            concurrency: 1,
        }
    }
}
