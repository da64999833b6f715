use core::future::{Future, pending};
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use crate::chain::key::Key;
use crate::classify::conversions::FromTimedOut;
use crate::classify::timed_out::TimedOut;
use crate::time::skip;
use crate::time::timer::Timer;

/// The end of each attempt: after that long, or else at the policy's `timeout`.
#[derive(Clone, Copy, Debug)]
pub struct Timed(pub(super) Option<Duration>);

/// How long an attempt may take, and what it ends with then.
pub struct Limit<O> {
    limit: Duration,
    timed_out: fn(Duration) -> O,
}

/// How attempts end that fail with an error of type `E`.
#[diagnostic::on_unimplemented(
    message = "`timeout` needs an error type that a timeout converts to, and `{E}` is not one",
    label = "`{E}` has no `From<TimedOut>`",
    note = "write `impl From<retry_runtime::TimedOut> for {E}`, or remove the key"
)]
pub trait TimesOut<E>: Key {
    /// The limit, which may be the policy's, with what an attempt ends with there.
    fn limit<T>(&self, of_policy: Option<Duration>) -> Option<Limit<Result<T, E>>>;

    /// The outcome of the attempt, and whether it was dropped at that limit.
    // It takes the attempt, not what begins it: a closure in the future's type is not found `Send` in every future around it.
    // Nor is a bound on its output where that holds a `dyn` type, so a function makes what it ends with at the limit.
    fn attempt<F: Future>(
        attempt: F,
        timer: &impl Timer,
        limit: Option<Limit<F::Output>>,
    ) -> impl Future<Output = (F::Output, bool)>;
}

#[diagnostic::do_not_recommend]
impl<E> TimesOut<E> for () {
    #[inline]
    fn limit<T>(&self, _: Option<Duration>) -> Option<Limit<Result<T, E>>> {
        None
    }

    #[inline]
    fn attempt<F: Future>(
        attempt: F,
        _: &impl Timer,
        _: Option<Limit<F::Output>>,
    ) -> impl Future<Output = (F::Output, bool)> {
        Untimed { attempt }
    }
}

#[diagnostic::do_not_recommend]
impl<E: FromTimedOut> TimesOut<E> for Option<Timed> {
    #[inline]
    fn limit<T>(&self, of_policy: Option<Duration>) -> Option<Limit<Result<T, E>>> {
        let own = self.and_then(|Timed(limit)| limit);
        own.or(of_policy).map(|limit| Limit {
            limit,
            timed_out: |limit| Err(E::from_timed_out(TimedOut::new(limit))),
        })
    }

    #[inline]
    fn attempt<F: Future>(
        attempt: F,
        timer: &impl Timer,
        limit: Option<Limit<F::Output>>,
    ) -> impl Future<Output = (F::Output, bool)> {
        Race {
            attempt,
            end: end(timer, limit),
        }
    }
}

pin_project! {
    /// An attempt that nothing drops.
    struct Untimed<F> {
        #[pin]
        attempt: F,
    }
}

impl<F: Future> Future for Untimed<F> {
    type Output = (F::Output, bool);

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.project().attempt.poll(context);
        polled.map(|outcome| (outcome, false))
    }
}

/// What an attempt ends with at its limit, once that is reached.
async fn end<O>(timer: &impl Timer, limit: Option<Limit<O>>) -> O {
    match limit {
        Some(Limit { limit, timed_out }) => {
            timer.sleep(limit).await;
            timed_out(limit)
        }
        None => pending().await,
    }
}

pin_project! {
    /// An attempt against its end, if the policy has a limit.
    struct Race<F, S> {
        #[pin]
        attempt: F,
        #[pin]
        end: S,
    }
}

impl<F: Future, S: Future<Output = F::Output>> Future for Race<F, S> {
    type Output = (F::Output, bool);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(outcome) = this.attempt.poll(context) {
            return Poll::Ready((outcome, false));
        }
        let ended = skip::unskipped(|| this.end.poll(context));
        ended.map(|outcome| (outcome, true))
    }
}
