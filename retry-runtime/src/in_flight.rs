//! The attempts that a batch or a plan has in flight at the same time.

use alloc::vec::Vec;
use core::future::{Future, pending, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, ready};
use core::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use pin_project_lite::pin_project;

use crate::admission::AdmissionControl;
use crate::call::driver::Driver;
use crate::call::late;
use crate::call::protections::Protects;
use crate::classify::rejected::RejectedBy;
use crate::observe::reason::Reason;
use crate::time::moment::Moment;
use crate::time::pause::pause_or_cancelled;
use crate::time::signal::Signal;
use crate::time::skip;
use crate::time::timer::{Timer, sleep_until};

/// The limits that end a batch or a plan before its work is done.
pub(crate) struct Bounds<'a, Timer, End, Cancelled> {
    pub(crate) timer: &'a Timer,
    pub(crate) deadline: Option<Moment>,
    /// Completes at the deadline.
    pub(crate) end: Pin<&'a mut End>,
    pub(crate) signal: Signal<'a, Cancelled>,
}

impl<T: Timer, End, Cancelled: Future> Bounds<'_, T, End, Cancelled> {
    /// Returns true if the deadline has passed.
    pub(crate) fn is_over(&self) -> bool {
        late::is_over(self.deadline, || self.timer.now())
    }

    /// The reason that nothing may begin any more.
    pub(crate) fn ended(&mut self) -> Option<Reason> {
        if self.signal.is_cancelled() {
            return Some(Reason::Cancelled);
        }
        self.is_over().then_some(Reason::Deadline)
    }

    /// Pauses until what cancels the work completes at the latest.
    pub(crate) async fn pause(&mut self, pause: Duration) {
        self.signal.pause(pin!(self.timer.sleep(pause))).await;
    }
}

/// What the attempts of a batch or a plan share.
pub(crate) struct Shared<'a, P, W> {
    pub(crate) protections: &'a P,
    timer: &'a W,
    now: fn(&&'a W) -> Moment,
}

impl<'a, P: Protects, W> Shared<'a, P, W> {
    /// `now` reads the timer's clock.
    pub(crate) fn new(protections: &'a P, timer: &'a W, now: fn(&&'a W) -> Moment) -> Self {
        Self {
            protections,
            timer,
            now,
        }
    }

    /// A call before its first attempt.
    pub(crate) fn attempts(&self) -> Driver<&'a P, &'a W> {
        Driver::with_clock(self.protections, self.timer, self.now)
    }

    pub(crate) fn now(&self) -> Moment {
        (self.now)(&self.timer)
    }

    /// Returns true if a limiter takes care of throttled retries, so that the budget need not pay for them.
    pub(crate) fn handles_throttling(&self) -> bool {
        let limiter = self.protections.limiter();
        limiter.is_some_and(AdmissionControl::handles_throttling)
    }
}

/// Waits until an attempt has its turn, or may enter again.
pub(crate) fn turn<P: Protects, T: Timer>(
    mut attempt: Driver<P, T>,
    deadline: Option<Moment>,
) -> impl Future<Output = Driver<P, T>> {
    let end = attempt.pauses().then(|| attempt.pause_end());
    async move {
        // What cancels one cancels all, and is polled for all of them.
        if let Some(end) = end {
            let never = pin!(pending::<()>());
            pause_or_cancelled(never, pin!(sleep_until(attempt.timer(), end))).await;
            let is_over = late::is_over(deadline, || attempt.now());
            attempt.resumed(is_over.then_some(RejectedBy::Deadline));
        } else {
            let waited = attempt.wait_for_turn().await;
            attempt.waited(waited);
        }
        attempt
    }
}

pin_project! {
    /// A future, and what is kept until it ends: by itself, or because it is dropped.
    struct Keeping<V, F> {
        #[pin]
        future: F,
        key: usize,
        kept: Option<V>,
    }
}

impl<V, F: Future> Future for Keeping<V, F> {
    type Output = (usize, V, F::Output);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let output = ready!(this.future.poll(context));
        let kept = this.kept.take().expect("taken only at the end");
        Poll::Ready((*this.key, kept, output))
    }
}

/// Drops the futures. Returns what was kept for them, in the order of its keys.
fn drop_all<V, F>(futures: &mut FuturesUnordered<Keeping<V, F>>) -> Vec<(usize, V)> {
    let kept = Pin::new(&mut *futures)
        .iter_pin_mut()
        .filter_map(|keeping| {
            let this = keeping.project();
            Some((*this.key, this.kept.take()?))
        });
    let kept = in_order(kept.collect());
    futures.clear();
    kept
}

/// Sorts by the keys, of which no two are equal.
pub(crate) fn in_order<V>(values: Vec<(usize, V)>) -> Vec<(usize, V)> {
    let keys = values.iter().map(|(key, _)| *key);
    let indices = sorted(keys.zip(0..).collect());
    let mut values: Vec<_> = values.into_iter().map(Some).collect();
    let in_order = indices
        .iter()
        .filter_map(|(_, index)| values[*index].take());
    in_order.collect()
}

/// Apart from what is sorted by them: a sort is much code, and would be compiled for each type of value.
fn sorted(mut keys: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    keys.sort_unstable();
    keys
}

/// Attempts that wait for their turn with a limiter, and attempts that run, each by its key. For each of the former a
/// `Queued` is kept, for each of the latter a `Begun`.
pub(crate) struct InFlight<Queued, Turn, Begun, Attempt> {
    /// How many may wait or run at once.
    most: usize,
    /// Attempts that wait for room. The last comes first: one that made room for itself goes on.
    held: Vec<Keeping<Queued, Turn>>,
    turns: FuturesUnordered<Keeping<Queued, Turn>>,
    attempts: FuturesUnordered<Keeping<Begun, Attempt>>,
}

impl<Queued, Turn, Begun, Attempt> Drop for InFlight<Queued, Turn, Begun, Attempt> {
    /// No attempt gives back what others wait for while another of them still runs.
    fn drop(&mut self) {
        drop(drop_all(&mut self.turns));
        drop(drop_all(&mut self.attempts));
    }
}

/// The next thing that happens.
#[cfg_attr(
    not(feature = "plan"),
    allow(dead_code, reason = "batches need no index")
)]
pub(crate) enum Next<Queued, Turned, Begun, Outcome> {
    /// The turn of an attempt has come, or never does.
    Turn(usize, Queued, Turned),
    /// An attempt ended.
    Ended(usize, Begun, Outcome),
    /// Nothing begins any more, so none of the former. At the deadline the latter are dropped, too.
    Stopped(RejectedBy, Vec<(usize, Queued)>, Vec<(usize, Begun)>),
}

impl<Queued, Turn: Future, Begun, Attempt: Future> InFlight<Queued, Turn, Begun, Attempt> {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            held: Vec::new(),
            turns: FuturesUnordered::new(),
            attempts: FuturesUnordered::new(),
        }
    }

    fn len(&self) -> usize {
        self.turns.len() + self.attempts.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if there is room for another attempt. Those that wait for room come first.
    pub(crate) fn has_room(&mut self) -> bool {
        while self.len() < self.most {
            match self.held.pop() {
                Some(held) => self.turns.push(held),
                None => return true,
            }
        }
        false
    }

    /// An attempt waits for its turn, as soon as there is room.
    pub(crate) fn wait(&mut self, key: usize, queued: Queued, turn: Turn) {
        self.held.push(Keeping {
            future: turn,
            key,
            kept: Some(queued),
        });
    }

    /// An attempt begins.
    pub(crate) fn begin(&mut self, key: usize, begun: Begun, attempt: Attempt) {
        self.attempts.push(Keeping {
            future: attempt,
            key,
            kept: Some(begun),
        });
    }

    /// Waits for what happens next. Not asked where nothing is under way.
    pub(crate) async fn next<T>(
        &mut self,
        bounds: &mut Bounds<'_, T, impl Future<Output = ()>, impl Future>,
    ) -> Next<Queued, Turn::Output, Begun, Attempt::Output> {
        let Bounds { end, signal, .. } = bounds;
        poll_fn(|context| {
            if let Poll::Ready(next) = self.poll(context, signal) {
                return Poll::Ready(next);
            }
            let ended = skip::unskipped(|| end.as_mut().poll(context));
            ended.map(|()| {
                let queued = self.drop_waiting();
                Next::Stopped(RejectedBy::Deadline, queued, drop_all(&mut self.attempts))
            })
        })
        .await
    }

    /// Drops what waits.
    fn drop_waiting(&mut self) -> Vec<(usize, Queued)> {
        self.turns.extend(self.held.drain(..));
        drop_all(&mut self.turns)
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        signal: &mut Signal<'_, impl Future>,
    ) -> Poll<Next<Queued, Turn::Output, Begun, Attempt::Output>> {
        if let Poll::Ready(Some((key, begun, outcome))) = self.attempts.poll_next_unpin(context) {
            return Poll::Ready(Next::Ended(key, begun, outcome));
        }
        if self.turns.is_empty() {
            return Poll::Pending;
        }
        if signal.poll(context) {
            let queued = self.drop_waiting();
            return Poll::Ready(Next::Stopped(RejectedBy::Cancelled, queued, Vec::new()));
        }
        match self.turns.poll_next_unpin(context) {
            Poll::Ready(Some((key, queued, turned))) => {
                Poll::Ready(Next::Turn(key, queued, turned))
            }
            _ => Poll::Pending,
        }
    }
}
