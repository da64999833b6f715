use crate::call::by_policy::PolicyCall;
use crate::classify::Classify;
use crate::classify::verdict::Verdict;
use crate::policy::Policy;
use crate::time::timer::Timer;

#[cfg(feature = "tokio")]
type DefaultTimer = crate::time::timer::TokioTimer;
#[cfg(not(feature = "tokio"))]
type DefaultTimer = ();

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
pub struct Batches<On = ByClassify, W = DefaultTimer> {
    pub(super) call: PolicyCall<On>,
    pub(super) size: usize,
    pub(super) concurrency: usize,
    pub(super) timer: W,
}

impl Policy {
    /// Sets how many items [`retry_each`](crate::retry_each) puts into one call at most. 0 counts as 1. A policy alone
    /// sends all in one call.
    pub fn batches(&self, size: usize) -> Batches {
        self.on(ByClassify).batches(size)
    }
}

impl<On> PolicyCall<On> {
    /// As [`Policy::batches`].
    pub fn batches(self, size: usize) -> Batches<On> {
        Batches {
            call: self,
            size: size.max(1),
            concurrency: 1,
            timer: DefaultTimer::default(),
        }
    }
}

impl<On, W> Batches<On, W> {
    /// Sets how many calls may run at the same time. 0 counts as 1. Default 1.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }

    /// Uses another runtime's [`Timer`](crate::Timer). Blocking calls ignore it.
    pub fn timer<V: Timer>(self, timer: V) -> Batches<On, V> {
        Batches {
            call: self.call,
            size: self.size,
            concurrency: self.concurrency,
            timer,
        }
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

    /// The numbers, all items in one batch where none are given.
    fn into_batches(self) -> Batches<Self::On, Self::Timer>;
}

impl<On, W> IntoBatches for Batches<On, W> {
    type On = On;
    type Timer = W;

    fn into_batches(self) -> Self {
        self
    }
}

impl<On> IntoBatches for PolicyCall<On> {
    type On = On;
    type Timer = DefaultTimer;

    fn into_batches(self) -> Batches<On> {
        self.batches(usize::MAX)
    }
}

impl IntoBatches for Policy {
    type On = ByClassify;
    type Timer = DefaultTimer;

    fn into_batches(self) -> Batches {
        self.batches(usize::MAX)
    }
}

impl IntoBatches for &Policy {
    type On = ByClassify;
    type Timer = DefaultTimer;

    fn into_batches(self) -> Batches {
        self.batches(usize::MAX)
    }
}

/// Says which errors are worth a retry: [`ByClassify`], or a function that [`Policy::on`] was given.
#[diagnostic::on_unimplemented(
    message = "nothing says which errors `{E}` are worth a retry",
    label = "`{E}` is not `Classify`, or `{Self}` does not take it",
    note = "put `#[derive(retry_runtime::Classify)]` on `{E}`, or name a function with `Policy::on`"
)]
pub trait OnError<E> {
    /// The verdict on a failure.
    fn verdict(&mut self, error: &E) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<E, V: Into<Verdict>, F: FnMut(&E) -> V> OnError<E> for F {
    fn verdict(&mut self, error: &E) -> Verdict {
        self(error).into()
    }
}

/// Errors say it themselves, by [`Classify`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ByClassify;

#[diagnostic::do_not_recommend]
impl<E: Classify> OnError<E> for ByClassify {
    fn verdict(&mut self, error: &E) -> Verdict {
        error.classify()
    }
}
