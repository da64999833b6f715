//! The attempts that a batch or a plan has in flight at the same time.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::stream::{FuturesUnordered, StreamExt};
use pin_project_lite::pin_project;
use retry_runtime::macro_support::{Bounds, Driver};
use retry_runtime::{RejectedBy, chain::IntoChain, seam::Timer};

/// The driver of an attempt in a batch or a plan.
pub(crate) type AttemptsOf<'a, Q> =
    Driver<&'a <Q as IntoChain>::Protections, &'a <Q as IntoChain>::Timer>;

/// A unit of work for one attempt, with the attempt's driver.
pub(crate) type Unit<'a, Q, U> = (U, AttemptsOf<'a, Q>);

/// The part of a unit that starts now, and the part that waits for the limiter or for the end of a pause.
pub(crate) type BegunAndWaiting<'a, Q, U> = (Option<Unit<'a, Q, U>>, Option<Unit<'a, Q, U>>);

/// The work of a batch or a plan. Each attempt has a unit `U` and ends with an outcome `O`.
pub(crate) trait Work<'a, Q: IntoChain, U, O> {
    /// The key of a unit, unique among all in flight.
    fn key(unit: &U) -> usize;

    /// The next unit, if any can start now.
    fn next(&mut self, is_cancelled: &mut dyn FnMut() -> bool) -> Option<Unit<'a, Q, U>>;

    /// Advances a unit as far as possible without waiting.
    fn proceed(
        &mut self,
        unit: Unit<'a, Q, U>,
        is_cancelled: &mut dyn FnMut() -> bool,
    ) -> BegunAndWaiting<'a, Q, U>;

    /// Handles an attempt that has ended.
    fn handle_outcome(&mut self, unit: Unit<'a, Q, U>, outcome: O);

    /// Handles the end of the work: waiting units will not start. At the deadline, the attempts in flight were also
    /// dropped.
    fn handle_stop(&mut self, by: RejectedBy, waiting: Vec<U>, begun: Vec<Unit<'a, Q, U>>);
}

/// Runs the work to its end, with at most `capacity` concurrent attempts. `begin` starts an attempt.
pub(crate) async fn run<'a, Q, U, W, A>(
    work: &mut W,
    capacity: usize,
    bounds: &mut Bounds<impl Future<Output = ()>, impl Future>,
    mut begin: impl FnMut(&mut W, &mut Unit<'a, Q, U>) -> A,
) where
    Q: IntoChain<Timer: Timer + 'a, Protections: 'a>,
    W: Work<'a, Q, U, A::Output>,
    A: Future,
{
    let mut in_flight = InFlight::new(capacity);
    loop {
        let next = if in_flight.has_room() {
            work.next(&mut || bounds.is_cancelled())
        } else {
            None
        };
        let unit = match next {
            Some(unit) => unit,
            None if in_flight.is_empty() => return,
            None => match in_flight.next(bounds).await {
                Next::Turn(unit, attempts) => (unit, attempts),
                Next::Ended(unit, outcome) => {
                    work.handle_outcome(unit, outcome);
                    continue;
                }
                Next::Stopped(by, waiting, begun) => {
                    work.handle_stop(by, waiting, begun);
                    if by == RejectedBy::Deadline {
                        return;
                    }
                    continue;
                }
            },
        };
        let (begun, waiting) = work.proceed(unit, &mut || bounds.is_cancelled());
        if let Some((unit, attempts)) = waiting {
            in_flight.wait(W::key(&unit), unit, attempts.wait_for_turn());
        }
        if let Some(mut unit) = begun {
            let attempt = begin(work, &mut unit);
            in_flight.begin(W::key(&unit.0), unit, attempt);
        }
    }
}

pin_project! {
    /// A future, and a value that is kept until the future ends or is dropped.
    struct WithValue<V, F> {
        #[pin]
        future: F,
        key: usize,
        kept: Option<V>,
    }
}

impl<V, F: Future> Future for WithValue<V, F> {
    type Output = (V, F::Output);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let output = ready!(this.future.poll(context));
        let kept = this.kept.take().expect("taken only at the end");
        Poll::Ready((kept, output))
    }
}

/// Drops the futures. Returns their kept values, in the order of the keys.
fn drop_all<V, F>(futures: &mut FuturesUnordered<WithValue<V, F>>) -> Vec<V> {
    let kept = Pin::new(&mut *futures).iter_pin_mut().filter_map(|future| {
        let this = future.project();
        Some((*this.key, this.kept.take()?))
    });
    let kept = values_by_key(kept.collect());
    futures.clear();
    kept
}

/// The values in the order of their keys, which are unique.
pub(crate) fn values_by_key<V>(values: Vec<(usize, V)>) -> Vec<V> {
    let keys = values.iter().map(|(key, _)| *key);
    let indices = sort_keys(keys.zip(0..).collect());
    let mut values: Vec<_> = values.into_iter().map(Some).collect();
    let sorted = indices
        .iter()
        .filter_map(|(_, index)| Some(values[*index].take()?.1));
    sorted.collect()
}

/// Sorts only keys, because sorting code would be compiled again for each type of value.
fn sort_keys(mut keys: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    keys.sort_unstable();
    keys
}

/// Attempts that wait for the limiter or for the end of a pause, and attempts in flight, each with its key. Keeps a
/// `Queued` for each waiting attempt, and a `Begun` for each attempt in flight.
struct InFlight<Queued, Turn, Begun, Attempt> {
    /// The maximum number of attempts that wait or are in flight.
    capacity: usize,
    /// Attempts that wait for room. The last one is taken first, so that an attempt that waits again gets the room it
    /// left.
    held: Vec<WithValue<Queued, Turn>>,
    turns: FuturesUnordered<WithValue<Queued, Turn>>,
    attempts: FuturesUnordered<WithValue<Begun, Attempt>>,
}

impl<Queued, Turn, Begun, Attempt> Drop for InFlight<Queued, Turn, Begun, Attempt> {
    /// Drops the waiting attempts first. Releases slots only after all running attempts are dropped, so that no other
    /// attempt starts in a released slot while these attempts run.
    fn drop(&mut self) {
        drop(drop_all(&mut self.turns));
        drop(drop_all(&mut self.attempts));
    }
}

/// The next event.
enum Next<Queued, Turned, Begun, Outcome> {
    /// An attempt's wait has ended.
    Turn(Queued, Turned),
    /// An attempt ended.
    Ended(Begun, Outcome),
    /// No more attempts start, so the waiting attempts are returned. At the deadline, attempts in flight are dropped,
    /// and their values returned.
    Stopped(RejectedBy, Vec<Queued>, Vec<Begun>),
}

impl<Queued, Turn: Future, Begun, Attempt: Future> InFlight<Queued, Turn, Begun, Attempt> {
    fn new(capacity: usize) -> Self {
        Self {
            capacity,
            held: Vec::new(),
            turns: FuturesUnordered::new(),
            attempts: FuturesUnordered::new(),
        }
    }

    fn len(&self) -> usize {
        self.turns.len() + self.attempts.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if there is room for another attempt. Attempts that wait for room come first.
    fn has_room(&mut self) -> bool {
        while self.len() < self.capacity {
            match self.held.pop() {
                Some(held) => self.turns.push(held),
                None => return true,
            }
        }
        false
    }

    /// Makes an attempt wait for the limiter or for the end of its pause, as soon as there is room.
    fn wait(&mut self, key: usize, queued: Queued, turn: Turn) {
        self.held.push(WithValue {
            future: turn,
            key,
            kept: Some(queued),
        });
    }

    /// Starts an attempt.
    fn begin(&mut self, key: usize, begun: Begun, attempt: Attempt) {
        self.attempts.push(WithValue {
            future: attempt,
            key,
            kept: Some(begun),
        });
    }

    /// Waits for the next event. Must only be called if something is in flight.
    async fn next(
        &mut self,
        bounds: &mut Bounds<impl Future<Output = ()>, impl Future>,
    ) -> Next<Queued, Turn::Output, Begun, Attempt::Output> {
        poll_fn(|context| {
            if let Poll::Ready(next) = self.poll(context, bounds) {
                return Poll::Ready(next);
            }
            bounds.poll_end(context).map(|()| {
                let queued = self.drop_waiting();
                Next::Stopped(RejectedBy::Deadline, queued, drop_all(&mut self.attempts))
            })
        })
        .await
    }

    /// Drops the waiting attempts.
    fn drop_waiting(&mut self) -> Vec<Queued> {
        self.turns.extend(self.held.drain(..));
        drop_all(&mut self.turns)
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        bounds: &mut Bounds<impl Future<Output = ()>, impl Future>,
    ) -> Poll<Next<Queued, Turn::Output, Begun, Attempt::Output>> {
        if let Poll::Ready(Some((begun, outcome))) = self.attempts.poll_next_unpin(context) {
            return Poll::Ready(Next::Ended(begun, outcome));
        }
        if self.turns.is_empty() {
            return Poll::Pending;
        }
        if bounds.poll_cancelled(context) {
            let queued = self.drop_waiting();
            return Poll::Ready(Next::Stopped(RejectedBy::Cancelled, queued, Vec::new()));
        }
        match self.turns.poll_next_unpin(context) {
            Poll::Ready(Some((queued, turned))) => Poll::Ready(Next::Turn(queued, turned)),
            _ => Poll::Pending,
        }
    }
}
