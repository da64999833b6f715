//! The keys `timeout` and `idle_timeout` for a stream: the time limit until an attempt succeeds, and the time limit
//! from one item to the next.

use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::time::Duration;

use futures_core::Stream;
use retry_classify::TimedOut;

use super::StreamItem;
use crate::time::{Timer, race, sleep_out};

/// The failure of a stream's attempt.
#[derive(Debug)]
pub struct Stopped<E> {
    pub(super) error: E,
    /// True if the attempt was dropped because of a time limit.
    pub(super) timed_out: bool,
    /// True if the attempt had yielded an item.
    pub(super) yielded: bool,
}

impl<E> Stopped<E> {
    pub(super) fn failed(error: E) -> Self {
        Self {
            error,
            timed_out: false,
            yielded: false,
        }
    }

    fn timed_out(error: fn(TimedOut) -> E, limit: Duration) -> Self {
        Self {
            timed_out: true,
            ..Self::failed(error(TimedOut::new(limit)))
        }
    }
}

/// The time limit from one item to the next, if there is one, and its timer.
#[derive(Debug)]
pub struct Patience<E, W> {
    timer: W,
    idle: Option<Timeout<E>>,
    /// True if the attempt has yielded an item.
    yielded: bool,
}

/// The time limit for an item, and the function that creates the error.
type Timeout<E> = (Duration, fn(TimedOut) -> E);

/// The timer of a stream without a time limit.
#[derive(Debug)]
pub struct NoTimer;

impl Timer for NoTimer {
    async fn sleep(&self, _: Duration) {}
}

pub fn endless<I: StreamItem>() -> Patience<I::Error, NoTimer> {
    Patience {
        timer: NoTimer,
        idle: None,
        yielded: false,
    }
}

pub fn patience<I: StreamItem, W: Timer>(
    timer: W,
    idle: Option<Duration>,
    error: fn(TimedOut) -> I::Error,
) -> Patience<I::Error, W> {
    Patience {
        timer,
        idle: idle.map(|idle| (idle, error)),
        yielded: false,
    }
}

/// The output of an attempt, or a failure if it takes longer than `limit`.
pub async fn in_time<I: StreamItem, S>(
    timer: impl Timer,
    limit: Option<Duration>,
    error: fn(TimedOut) -> I::Error,
    attempt: impl Future<Output = Result<S, Stopped<I::Error>>>,
) -> Result<S, Stopped<I::Error>> {
    let sleep = pin!(sleep_out(timer, limit));
    let ended = race(pin!(attempt), sleep).await;
    ended.unwrap_or_else(|| Err(Stopped::timed_out(error, limit.unwrap_or_default())))
}

impl<E, W: Timer> Patience<E, W> {
    // Takes `&mut self`, which is `Send` if the timer is; `&self` would also require `Sync`.
    pub(super) async fn next<S: Stream>(
        &mut self,
        mut stream: Pin<&mut S>,
    ) -> Result<Option<S::Item>, Stopped<E>> {
        let next = pin!(poll_fn(|context| stream.as_mut().poll_next(context)));
        let Some((limit, error)) = self.idle.filter(|_| self.yielded) else {
            return Ok(next.await);
        };
        let sleep = pin!(sleep_out(&self.timer, Some(limit)));
        let next = race(next, sleep).await;
        next.ok_or_else(|| Stopped::timed_out(error, limit))
    }

    /// The next item of an attempt. An error is the attempt's failure.
    pub(super) async fn item<S, T>(&mut self, stream: Pin<&mut S>) -> Result<Option<T>, Stopped<E>>
    where
        S: Stream<Item = Result<T, E>>,
    {
        let next = self.next(stream).await;
        match next.and_then(|next| next.transpose().map_err(Stopped::failed)) {
            Ok(item) => {
                self.yielded |= item.is_some();
                Ok(item)
            }
            Err(stopped) => Err(Stopped {
                yielded: self.yielded,
                ..stopped
            }),
        }
    }
}
