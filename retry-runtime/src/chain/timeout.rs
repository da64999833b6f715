use std::future::{Future, pending};
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

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

    fn limit(policy: &Policy) -> Self::Limit;
    fn sleep(timer: &impl Timer, limit: Self::Limit) -> impl Future<Output = ()>;
    fn poll<F: Future>(
        attempt: Pin<&mut F>,
        sleep: Pin<&mut impl Future<Output = ()>>,
        context: &mut Context<'_>,
    ) -> Poll<Self::Raced<F::Output>>;
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

    #[inline]
    fn limit(_: &Policy) {}

    #[inline]
    fn sleep(_: &impl Timer, (): ()) -> impl Future<Output = ()> {
        pending()
    }

    #[inline]
    fn poll<F: Future>(
        attempt: Pin<&mut F>,
        _: Pin<&mut impl Future<Output = ()>>,
        context: &mut Context<'_>,
    ) -> Poll<F::Output> {
        attempt.poll(context)
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

    fn limit(policy: &Policy) -> Option<Duration> {
        policy.attempt_limit()
    }

    fn sleep(timer: &impl Timer, limit: Option<Duration>) -> impl Future<Output = ()> {
        sleep_out(timer, limit)
    }

    fn poll<F: Future>(
        attempt: Pin<&mut F>,
        sleep: Pin<&mut impl Future<Output = ()>>,
        context: &mut Context<'_>,
    ) -> Poll<Option<F::Output>> {
        pin!(race(attempt, sleep)).poll(context)
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

/// An attempt against its timeout, if there is one.
pub(super) struct Race<'a, L, F, S> {
    attempt: Pin<&'a mut F>,
    sleep: Pin<&'a mut S>,
    of: PhantomData<fn() -> L>,
}

impl<'a, L, F, S> Race<'a, L, F, S> {
    #[inline]
    pub(super) fn new(attempt: Pin<&'a mut F>, sleep: Pin<&'a mut S>) -> Self {
        Self {
            attempt,
            sleep,
            of: PhantomData,
        }
    }
}

impl<L, F, S> Future for Race<'_, L, F, S>
where
    L: MayTimeOut,
    F: Future,
    S: Future<Output = ()>,
{
    type Output = L::Raced<F::Output>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        L::poll(this.attempt.as_mut(), this.sleep.as_mut(), context)
    }
}
