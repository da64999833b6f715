//! The keys `timeout` and `idle_timeout` for a stream: the time to open it, and then the wait for each item.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::time::Duration;

use futures_core::Stream;

use super::{SizeHint, StreamItem};
use crate::classify::timed_out::TimedOut;
use crate::time::race::race;
use crate::time::skip;
use crate::time::timer::Timer;

/// Why an attempt failed.
#[derive(Debug)]
pub struct Stopped<E> {
    pub(super) error: E,
    /// Whether the attempt took too long.
    pub(super) dropped: bool,
    /// Whether the attempt had yielded an item.
    pub(super) yielded: bool,
}

impl<E> Stopped<E> {
    pub(super) fn failed(error: E) -> Self {
        Self {
            error,
            dropped: false,
            yielded: false,
        }
    }
}

/// How long to wait, on which timer, and which error follows.
#[derive(Debug)]
pub struct Patience<E, W> {
    timer: W,
    limit: Option<Timeout<E>>,
    /// For what follows the first item.
    idle: Option<Timeout<E>>,
    /// Whether the attempt has yielded an item.
    yielded: bool,
}

/// How long an item may take, and what happens if it takes longer.
type Timeout<E> = (Duration, fn(TimedOut) -> E);

/// The timer where there is no timeout.
#[derive(Debug)]
pub struct NoTimer;

impl Timer for NoTimer {
    async fn sleep(&self, _: Duration) {}
}

pub fn endless<I: StreamItem>() -> Patience<I::Error, NoTimer> {
    Patience {
        timer: NoTimer,
        limit: None,
        idle: None,
        yielded: false,
    }
}

pub fn patience<I: StreamItem, W: Timer>(
    timer: W,
    [limit, idle]: [Option<Duration>; 2],
    error: fn(TimedOut) -> I::Error,
) -> Patience<I::Error, W> {
    Patience {
        timer,
        limit: limit.map(|limit| (limit, error)),
        idle: idle.map(|idle| (idle, error)),
        yielded: false,
    }
}

impl<E, W: Timer> Patience<E, W> {
    // By `&mut`, which is `Send` where the timer is, though `&` may not be.
    pub async fn wait<F: Future>(&mut self, future: F) -> Result<F::Output, Stopped<E>> {
        let limit = if self.yielded { self.idle } else { self.limit };
        let Some((limit, error)) = limit else {
            return Ok(future.await);
        };
        let future = pin!(future);
        let sleep = pin!(skip::unskipped(|| self.timer.sleep(limit)));
        race(future, sleep).await.ok_or_else(|| Stopped {
            error: error(TimedOut::new(limit)),
            dropped: true,
            yielded: false,
        })
    }

    pub(super) async fn next<S: Stream>(
        &mut self,
        mut stream: Pin<&mut S>,
    ) -> Result<Option<S::Item>, Stopped<E>> {
        self.wait(poll_fn(|context| stream.as_mut().poll_next(context)))
            .await
    }

    /// An attempt's next item, where an error is the attempt's failure.
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

    /// The hint of a stream that is waited for: a timeout ends it early, with one item, the error.
    pub(super) fn size_hint(&self, (least, most): SizeHint) -> SizeHint {
        match self.limit.or(self.idle) {
            Some(_) => (0, most.and_then(|most| most.checked_add(1))),
            None => (least, most),
        }
    }
}
