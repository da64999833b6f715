//! The key `hedge`.

use core::future::{Future, poll_fn};
use core::ops::Deref;
use core::pin::Pin;
use core::time::Duration;

use crate::call::attempt::Attempt;
use crate::hedge::latency::Latency;
#[cfg(feature = "std")]
use crate::hedge::latency::Quantile;
use crate::hedge::running::Measured;
use crate::time::moment::Moment;

/// What the key `hedge` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say when to hedge",
    label = "neither a `Duration`, an `Option<Duration>` nor a `Quantile`",
    note = "give a duration as in `\"200ms\"`, a `Duration`, an `Option<Duration>` where `None` is never, or a quantile of a `retry_runtime::Latency`"
)]
// A parameter, since a missing associated type would be a second error.
pub trait HedgeAfter<L> {
    /// How long an attempt runs before another begins beside it, and what attempts tell how long they took.
    fn hedge_after(self) -> (Option<Duration>, Option<L>);
}

impl HedgeAfter<&'static Latency> for Duration {
    fn hedge_after(self) -> (Option<Duration>, Option<&'static Latency>) {
        (Some(self), None)
    }
}

impl HedgeAfter<&'static Latency> for Option<Duration> {
    fn hedge_after(self) -> (Option<Duration>, Option<&'static Latency>) {
        (self, None)
    }
}

#[cfg(feature = "std")]
impl<L: Deref<Target = Latency>> HedgeAfter<L> for Quantile<L> {
    fn hedge_after(self) -> (Option<Duration>, Option<L>) {
        (self.get(), Some(self.into_latency()))
    }
}

/// What a number above 1 is meant for: a method of the user's own, and no quantile.
#[diagnostic::on_unimplemented(
    message = "this quantile is out of range: it takes a share of the attempts from 0 to 1, as in `0.95`, not `95`",
    label = "above 1"
)]
pub trait NoQuantile {}

impl NoQuantile for Duration {}

impl NoQuantile for Option<Duration> {}

/// The value of `hedge`, which is refused where it is a quantile.
#[inline]
pub fn no_quantile<H: NoQuantile>(hedge: H) -> H {
    hedge
}

/// When to hedge, and what is told by that clock how long attempts took.
#[inline]
pub fn hedge<L: Deref<Target = Latency>, N: Fn() -> Moment>(
    hedge: impl HedgeAfter<L>,
    now: N,
) -> (Option<Duration>, Measured<L, N>) {
    let (after, latency) = hedge.hedge_after();
    (after, Measured::new(after, latency, now))
}

/// What makes attempts. Several run at once, so the bound keeps the body from using up what it captures.
#[inline]
pub fn runs_at_once<F: Fn() -> A, A>(attempt: F) -> F {
    attempt
}

/// Runs an attempt, which begins now, so that it always sees its own number.
pub async fn numbered<E, K, F: Future>(
    attempt: &Attempt<E, K>,
    mut body: Pin<&mut F>,
) -> F::Output {
    let number = attempt.begun();
    poll_fn(|context| {
        attempt.show(number);
        body.as_mut().poll(context)
    })
    .await
}
