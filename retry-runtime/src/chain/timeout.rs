use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use crate::classify::conversions::FromTimedOut;
use crate::classify::timed_out::TimedOut;
use crate::key::Unnamed;
use crate::time::race::race;
use crate::time::timer::{Timer, sleep_out};

/// What a chain has whose attempts end at the policy's `timeout`.
#[derive(Clone, Copy, Debug)]
pub struct Timed;

/// Whether the attempts of a chain end at the policy's `timeout`.
pub trait TimeoutKey {
    /// Whether they do.
    const IS_NAMED: bool;
}

/// How attempts end that fail with an error of type `E`.
#[diagnostic::on_unimplemented(
    message = "`timeout` needs an error type that a timeout converts to, and `{E}` is not one",
    label = "`{E}` has no `From<TimedOut>`",
    note = "write `impl From<retry_runtime::TimedOut> for {E}`, or remove the key"
)]
pub trait TimesOut<E>: TimeoutKey {
    /// The outcome of the attempt, and whether it was dropped at that limit.
    // It takes the attempt, not what begins it: a closure in the future's type is not found `Send` in every future around it.
    fn attempt<T, F: Future<Output = Result<T, E>>>(
        attempt: F,
        timer: &impl Timer,
        limit: Option<Duration>,
    ) -> impl Future<Output = (Result<T, E>, bool)>;
}

impl TimeoutKey for Unnamed {
    const IS_NAMED: bool = false;
}

impl TimeoutKey for Timed {
    const IS_NAMED: bool = true;
}

#[diagnostic::do_not_recommend]
impl<E> TimesOut<E> for Unnamed {
    #[inline]
    fn attempt<T, F: Future<Output = Result<T, E>>>(
        attempt: F,
        _: &impl Timer,
        _: Option<Duration>,
    ) -> impl Future<Output = (Result<T, E>, bool)> {
        Untimed { attempt }
    }
}

#[diagnostic::do_not_recommend]
impl<E: FromTimedOut> TimesOut<E> for Timed {
    #[inline]
    fn attempt<T, F: Future<Output = Result<T, E>>>(
        attempt: F,
        timer: &impl Timer,
        limit: Option<Duration>,
    ) -> impl Future<Output = (Result<T, E>, bool)> {
        Race {
            attempt,
            sleep: sleep_out(timer, limit),
            limit,
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

pin_project! {
    /// An attempt against its limit, if the policy has one.
    struct Race<F, S> {
        #[pin]
        attempt: F,
        #[pin]
        sleep: S,
        limit: Option<Duration>,
    }
}

impl<T, E, F, S> Future for Race<F, S>
where
    E: FromTimedOut,
    F: Future<Output = Result<T, E>>,
    S: Future<Output = ()>,
{
    type Output = (Result<T, E>, bool);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let limit = this.limit.unwrap_or_default();
        pin!(race(this.attempt, this.sleep))
            .poll(context)
            .map(|raced| match raced {
                Some(outcome) => (outcome, false),
                None => (Err(E::from_timed_out(TimedOut::new(limit))), true),
            })
    }
}
