//! The attempts that a batch or a plan has in flight at the same time.

use alloc::vec::Vec;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use futures_util::stream::{FuturesUnordered, StreamExt};
use pin_project_lite::pin_project;

use crate::call::driver::Driver;
use crate::chain::into_chain::IntoChain;
use crate::classify::rejected::RejectedBy;
use crate::time::signal::Signal;
use crate::time::skip;
use crate::time::timer::Timer;

/// The call of an attempt of a batch or a plan.
pub(crate) type AttemptsOf<'a, Q> =
    Driver<&'a <Q as IntoChain>::Protections, &'a <Q as IntoChain>::Timer>;

/// What an attempt is made for, with its call.
pub(crate) type Unit<'a, Q, U> = (U, AttemptsOf<'a, Q>);

/// What becomes of a unit without a wait: what of it begins, and what waits for its turn or the end of a pause.
pub(crate) type BegunAndWaiting<'a, Q, U> = (Option<Unit<'a, Q, U>>, Option<Unit<'a, Q, U>>);

/// The work of a batch or a plan: a `U` for each attempt, which ends with an `O`.
pub(crate) trait Work<'a, Q: IntoChain, U, O> {
    /// The place of a unit among all that are in flight.
    fn key(unit: &U) -> usize;

    /// The next unit, unless nothing is left that can begin now.
    fn next(&mut self, is_cancelled: &mut dyn FnMut() -> bool) -> Option<Unit<'a, Q, U>>;

    /// Takes a unit as far as it gets without a wait.
    fn proceed(
        &mut self,
        unit: Unit<'a, Q, U>,
        is_cancelled: &mut dyn FnMut() -> bool,
    ) -> BegunAndWaiting<'a, Q, U>;

    /// The attempt has ended.
    fn ended(&mut self, unit: Unit<'a, Q, U>, outcome: O);

    /// Nothing that waits will begin. At the deadline, the attempts in flight were dropped, too.
    fn stopped(&mut self, by: RejectedBy, waiting: Vec<U>, begun: Vec<Unit<'a, Q, U>>);
}

/// The limits that end a batch or a plan before its work is done.
pub(crate) struct Bounds<'a, End, Cancelled> {
    /// Completes at the deadline.
    pub(crate) end: Pin<&'a mut End>,
    pub(crate) signal: Signal<'a, Cancelled>,
}

/// Does all work that can be done now, in at most that many attempts at a time, which `begin` begins.
pub(crate) async fn run<'a, Q, U, W, A>(
    work: &mut W,
    most: usize,
    bounds: &mut Bounds<'_, impl Future<Output = ()>, impl Future>,
    mut begin: impl FnMut(&mut W, &mut Unit<'a, Q, U>) -> A,
) where
    Q: IntoChain<Timer: Timer + 'a, Protections: 'a>,
    W: Work<'a, Q, U, A::Output>,
    A: Future,
{
    let mut in_flight = InFlight::new(most);
    loop {
        let next = if in_flight.has_room() {
            work.next(&mut || bounds.signal.is_cancelled())
        } else {
            None
        };
        let unit = match next {
            Some(unit) => unit,
            None if in_flight.is_empty() => return,
            None => match in_flight.next(bounds).await {
                Next::Turn(unit, attempts) => (unit, attempts),
                Next::Ended(unit, outcome) => {
                    work.ended(unit, outcome);
                    continue;
                }
                Next::Stopped(by, waiting, begun) => {
                    work.stopped(by, waiting, begun);
                    if by == RejectedBy::Deadline {
                        return;
                    }
                    continue;
                }
            },
        };
        let (begun, waiting) = work.proceed(unit, &mut || bounds.signal.is_cancelled());
        if let Some((unit, attempts)) = waiting {
            in_flight.wait(W::key(&unit), unit, attempts.turn());
        }
        if let Some(mut unit) = begun {
            let attempt = begin(work, &mut unit);
            in_flight.begin(W::key(&unit.0), unit, attempt);
        }
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
    type Output = (V, F::Output);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let output = ready!(this.future.poll(context));
        let kept = this.kept.take().expect("taken only at the end");
        Poll::Ready((kept, output))
    }
}

/// Drops the futures. Returns what was kept for them, in the order of its keys.
fn drop_all<V, F>(futures: &mut FuturesUnordered<Keeping<V, F>>) -> Vec<V> {
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

/// The values in the order of their keys, of which no two are equal.
pub(crate) fn in_order<V>(values: Vec<(usize, V)>) -> Vec<V> {
    let keys = values.iter().map(|(key, _)| *key);
    let indices = sorted(keys.zip(0..).collect());
    let mut values: Vec<_> = values.into_iter().map(Some).collect();
    let in_order = indices
        .iter()
        .filter_map(|(_, index)| Some(values[*index].take()?.1));
    in_order.collect()
}

/// Apart from what is sorted by them: a sort is much code, and would be compiled for each type of value.
fn sorted(mut keys: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    keys.sort_unstable();
    keys
}

/// Attempts that wait for their turn or the end of a pause, and attempts that run, each by its key. For each of the
/// former a `Queued` is kept, for each of the latter a `Begun`.
struct InFlight<Queued, Turn, Begun, Attempt> {
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
enum Next<Queued, Turned, Begun, Outcome> {
    /// The turn of an attempt has come, or never does.
    Turn(Queued, Turned),
    /// An attempt ended.
    Ended(Begun, Outcome),
    /// Nothing begins any more, so none of the former. At the deadline the latter are dropped, too.
    Stopped(RejectedBy, Vec<Queued>, Vec<Begun>),
}

impl<Queued, Turn: Future, Begun, Attempt: Future> InFlight<Queued, Turn, Begun, Attempt> {
    fn new(most: usize) -> Self {
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

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if there is room for another attempt. Those that wait for room come first.
    fn has_room(&mut self) -> bool {
        while self.len() < self.most {
            match self.held.pop() {
                Some(held) => self.turns.push(held),
                None => return true,
            }
        }
        false
    }

    /// An attempt waits for its turn, as soon as there is room.
    fn wait(&mut self, key: usize, queued: Queued, turn: Turn) {
        self.held.push(Keeping {
            future: turn,
            key,
            kept: Some(queued),
        });
    }

    /// An attempt begins.
    fn begin(&mut self, key: usize, begun: Begun, attempt: Attempt) {
        self.attempts.push(Keeping {
            future: attempt,
            key,
            kept: Some(begun),
        });
    }

    /// Waits for what happens next. Not asked where nothing is under way.
    async fn next(
        &mut self,
        bounds: &mut Bounds<'_, impl Future<Output = ()>, impl Future>,
    ) -> Next<Queued, Turn::Output, Begun, Attempt::Output> {
        let Bounds { end, signal } = bounds;
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
    fn drop_waiting(&mut self) -> Vec<Queued> {
        self.turns.extend(self.held.drain(..));
        drop_all(&mut self.turns)
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        signal: &mut Signal<'_, impl Future>,
    ) -> Poll<Next<Queued, Turn::Output, Begun, Attempt::Output>> {
        if let Poll::Ready(Some((begun, outcome))) = self.attempts.poll_next_unpin(context) {
            return Poll::Ready(Next::Ended(begun, outcome));
        }
        if self.turns.is_empty() {
            return Poll::Pending;
        }
        if signal.poll(context) {
            let queued = self.drop_waiting();
            return Poll::Ready(Next::Stopped(RejectedBy::Cancelled, queued, Vec::new()));
        }
        match self.turns.poll_next_unpin(context) {
            Poll::Ready(Some((queued, turned))) => Poll::Ready(Next::Turn(queued, turned)),
            _ => Poll::Pending,
        }
    }
}
