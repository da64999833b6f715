use core::future::{Future, Pending, pending};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;

use crate::chain::key::Unnamed;
use crate::classify::from_timed_out::FromTimedOut;
use crate::classify::timed_out::TimedOut;
use crate::policy::Policy;
use crate::time::race::race;
use crate::time::timer::{Timer, sleep_out};

/// What a chain has whose attempts end at the policy's `timeout`.
#[derive(Clone, Copy, Debug)]
pub struct Timed;

/// Whether the attempts of a chain end at the policy's `timeout`.
pub trait MayTimeOut {
    /// Whether they do.
    const IS_NAMED: bool;
    /// What a race with the timeout yields.
    type Raced<T>;
    /// The policy's `timeout`, which a call keeps while an attempt runs.
    type Limit: Copy + Send;
    /// An attempt that stays in its place while it races.
    type Beside<F: Future>: Future<Output = F::Output>;
    /// An attempt's race, by pointers to it and to the sleep; without a timeout, the attempt.
    type Race<F: Future, P, S>: Future<Output = Self::Raced<F::Output>>
    where
        P: Future<Output = F::Output> + Unpin,
        S: Future<Output = ()> + Unpin;

    fn limit(policy: &Policy) -> Self::Limit;
    fn sleep(timer: &impl Timer, limit: Self::Limit) -> impl Future<Output = ()>;
    fn begin_beside<F: Future>(begin: impl FnOnce() -> F) -> Self::Beside<F>;
    fn race<F: Future, P, S>(
        begin: impl FnOnce() -> F,
        attempt: P,
        sleep: S,
    ) -> Self::Race<F, P, S>
    where
        P: Future<Output = F::Output> + Unpin,
        S: Future<Output = ()> + Unpin;
}

/// The same for attempts that fail with an error of type `E`.
pub trait TimesOut<E>: MayTimeOut {
    /// The outcome, and whether the attempt was dropped.
    fn outcome<T>(raced: Self::Raced<Result<T, E>>, limit: Self::Limit) -> (Result<T, E>, bool);
}

impl MayTimeOut for Unnamed {
    const IS_NAMED: bool = false;
    type Raced<T> = T;
    type Limit = ();
    type Beside<F: Future> = Pending<F::Output>;
    type Race<F: Future, P, S>
        = F
    where
        P: Future<Output = F::Output> + Unpin,
        S: Future<Output = ()> + Unpin;

    #[inline]
    fn limit(_: &Policy) {}

    #[inline]
    fn sleep(_: &impl Timer, (): ()) -> impl Future<Output = ()> {
        pending()
    }

    #[inline]
    fn begin_beside<F: Future>(_: impl FnOnce() -> F) -> Pending<F::Output> {
        pending()
    }

    #[inline]
    fn race<F: Future, P, S>(begin: impl FnOnce() -> F, _: P, _: S) -> F
    where
        P: Future<Output = F::Output> + Unpin,
        S: Future<Output = ()> + Unpin,
    {
        begin()
    }
}

#[diagnostic::do_not_recommend]
impl<E> TimesOut<E> for Unnamed {
    #[inline]
    fn outcome<T>(raced: Result<T, E>, (): ()) -> (Result<T, E>, bool) {
        (raced, false)
    }
}

impl MayTimeOut for Timed {
    const IS_NAMED: bool = true;
    type Raced<T> = Option<T>;
    type Limit = Option<Duration>;
    type Beside<F: Future> = F;
    type Race<F: Future, P, S>
        = Race<P, S>
    where
        P: Future<Output = F::Output> + Unpin,
        S: Future<Output = ()> + Unpin;

    fn limit(policy: &Policy) -> Option<Duration> {
        policy.attempt_limit()
    }

    fn sleep(timer: &impl Timer, limit: Option<Duration>) -> impl Future<Output = ()> {
        sleep_out(timer, limit)
    }

    fn begin_beside<F: Future>(begin: impl FnOnce() -> F) -> F {
        begin()
    }

    fn race<F: Future, P, S>(_: impl FnOnce() -> F, attempt: P, sleep: S) -> Race<P, S>
    where
        P: Future<Output = F::Output> + Unpin,
        S: Future<Output = ()> + Unpin,
    {
        Race { attempt, sleep }
    }
}

#[diagnostic::do_not_recommend]
impl<E: FromTimedOut> TimesOut<E> for Timed {
    fn outcome<T>(raced: Option<Result<T, E>>, limit: Option<Duration>) -> (Result<T, E>, bool) {
        match raced {
            Some(outcome) => (outcome, false),
            None => {
                let timed_out = TimedOut::new(limit.unwrap_or_default());
                (Err(E::from_timed_out(timed_out)), true)
            }
        }
    }
}

/// An attempt against its timeout, if the policy has one.
#[derive(Debug)]
pub struct Race<P, S> {
    attempt: P,
    sleep: S,
}

impl<P: Future + Unpin, S: Future<Output = ()> + Unpin> Future for Race<P, S> {
    type Output = Option<P::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { attempt, sleep } = &mut *self;
        pin!(race(Pin::new(attempt), Pin::new(sleep))).poll(context)
    }
}
