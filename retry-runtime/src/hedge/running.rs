//! Concurrent attempts.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use crate::hedge::delay::HedgeDelay;
use crate::time::Moment;

/// The running attempts of a call, and the sleep until the next one may start.
///
/// The first attempt is not on the heap, because most calls need no other.
#[derive(Debug)]
pub struct Running<'a, A, S, D: HedgeDelay, N: Fn() -> Moment> {
    /// The first attempt. Its future can be dropped in place.
    first: Option<(AttemptStart, Pin<&'a mut Option<A>>)>,
    others: Vec<(AttemptStart, Pin<Box<A>>)>,
    sleep: Pin<&'a mut S>,
    /// True if another attempt may start after the sleep.
    can_begin: bool,
    /// True if the next attempt may start early, because an attempt failed, as in gRPC's proposal A6.
    is_due: bool,
    measured: Measured<D, N>,
}

/// The number of an attempt, and its start if that is recorded.
type AttemptStart = (u32, Option<Moment>);

/// The time before another attempt starts, and the [`HedgeDelay`] that records the times of attempts, if the key
/// `hedge` has one.
#[derive(Debug)]
pub struct Measured<D, N> {
    after: Option<Duration>,
    delay: Option<D>,
    now: N,
}

/// The next event.
#[derive(Debug)]
pub enum Next<T, E> {
    /// Another attempt may start: this time after the start of the last one, or at once if zero.
    Due(Duration),
    /// An attempt has ended.
    Ended(Ended<T, E>),
}

/// An attempt that has ended.
#[derive(Debug)]
pub struct Ended<T, E> {
    pub outcome: Result<T, E>,
    /// True if the attempt timed out.
    pub timed_out: bool,
    pub number: u32,
}

impl<D: HedgeDelay, N: Fn() -> Moment> Measured<D, N> {
    pub(crate) fn new(after: Option<Duration>, delay: Option<D>, now: N) -> Self {
        Self { after, delay, now }
    }

    fn now(&self) -> Option<Moment> {
        self.delay.as_ref().map(|_| (self.now)())
    }

    fn record(&self, began: Option<Moment>, record: fn(&D, Duration)) {
        if let (Some(delay), Some(began)) = (&self.delay, began) {
            record(delay, (self.now)().since(began));
        }
    }
}

impl<'a, A, S: Future<Output = ()>, D: HedgeDelay, N: Fn() -> Moment> Running<'a, A, S, D, N> {
    /// Starts with the first attempt.
    pub fn new(
        attempt: Pin<&'a mut Option<A>>,
        number: u32,
        sleep: Pin<&'a mut S>,
        measured: Measured<D, N>,
    ) -> Self {
        Self {
            first: Some(((number, measured.now()), attempt)),
            others: Vec::new(),
            sleep,
            can_begin: true,
            is_due: false,
            measured,
        }
    }

    /// Starts one more attempt. Another one may follow after this sleep.
    pub fn begin(&mut self, attempt: A, number: u32, sleep: S) {
        let begun = (number, self.measured.now());
        self.others.push((begun, Box::pin(attempt)));
        self.sleep.set(sleep);
        self.can_begin = true;
        self.is_due = false;
    }

    /// Returns true if any attempt is still running.
    pub fn goes_on(&self) -> bool {
        self.first.is_some() || !self.others.is_empty()
    }

    /// Waits for the next event. If an attempt has ended and another one may start, the end is returned first.
    pub fn wait<T, E>(&mut self) -> impl Future<Output = Next<T, E>>
    where
        A: Future<Output = (Result<T, E>, bool)>,
    {
        poll_fn(|context| self.poll(context))
    }

    fn poll<T, E>(&mut self, context: &mut Context<'_>) -> Poll<Next<T, E>>
    where
        A: Future<Output = (Result<T, E>, bool)>,
    {
        if let Some((begun, first)) = &mut self.first {
            let first = first.as_mut().as_pin_mut();
            if let Some(Poll::Ready(output)) = first.map(|first| first.poll(context)) {
                let begun = *begun;
                self.first = None;
                return Poll::Ready(self.end_event(begun, output));
            }
        }
        for index in 0..self.others.len() {
            if let Poll::Ready(output) = self.others[index].1.as_mut().poll(context) {
                let (begun, _) = self.others.remove(index);
                return Poll::Ready(self.end_event(begun, output));
            }
        }
        if !self.can_begin {
            return Poll::Pending;
        }
        let mut delay = Duration::ZERO;
        if !self.is_due {
            ready!(self.sleep.as_mut().poll(context));
            delay = self.measured.after.unwrap_or_default();
        }
        self.can_begin = false;
        Poll::Ready(Next::Due(delay))
    }

    fn end_event<T, E>(
        &mut self,
        (number, began): AttemptStart,
        (outcome, timed_out): (Result<T, E>, bool),
    ) -> Next<T, E> {
        self.is_due |= outcome.is_err();
        if outcome.is_ok() {
            self.measured.record(began, D::record);
        } else if timed_out {
            self.measured.record(began, D::record_dropped);
        }
        Next::Ended(Ended {
            outcome,
            timed_out,
            number,
        })
    }
}

/// Records the attempts that lost to another one, or that are dropped with the call.
impl<A, S, D: HedgeDelay, N: Fn() -> Moment> Drop for Running<'_, A, S, D, N> {
    fn drop(&mut self) {
        let first = self.first.iter().map(|(begun, _)| begun);
        for (_, began) in first.chain(self.others.iter().map(|(begun, _)| begun)) {
            self.measured.record(*began, D::record_dropped);
        }
        if let Some((_, first)) = &mut self.first {
            first.set(None);
        }
    }
}
