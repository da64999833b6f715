//! What batches and plans have under way: several attempts at once.

use alloc::vec::Vec;
use core::future::{Future, pending, poll_fn};
use core::mem;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::chain::limiter::{InLine, MayWait};
use crate::classify::rejected::RejectedBy;
use crate::time::cancel::Signal;
use crate::time::moment::Moment;
use crate::time::skip;
use crate::time::timer::Timer;

/// Attempts that wait for their turn with a limiter, and attempts that run, each by its key. Of each of the former a
/// `Q` is kept, of each of the latter an `S`.
pub(crate) struct UnderWay<K, Q, W, S, A> {
    // Dropped in this order: what an attempt keeps for those after it goes back once the attempt is gone.
    turns: FuturesUnordered<W>,
    queued: Entries<K, Q>,
    attempts: FuturesUnordered<A>,
    begun: Entries<K, S>,
}

/// What is kept, in the order of its keys, until it is taken. A map would be compiled for each type of it.
struct Entries<K, V> {
    kept: Vec<(K, Option<V>)>,
    /// How many were not taken.
    left: usize,
}

impl<K: Copy + Ord, V> Entries<K, V> {
    fn new() -> Self {
        Self {
            kept: Vec::new(),
            left: 0,
        }
    }

    fn insert(&mut self, key: K, value: V) {
        let entry = (key, Some(value));
        match self.place(key) {
            Ok(place) => self.kept[place] = entry,
            Err(place) => self.kept.insert(place, entry),
        }
        self.left += 1;
    }

    fn take(&mut self, key: K) -> Option<V> {
        let place = self.place(key).ok()?;
        let value = self.kept[place].1.take()?;
        self.left -= 1;
        // Not each time, as all that follow move.
        if self.left < self.kept.len() / 2 {
            self.kept.retain(|(_, value)| value.is_some());
        }
        Some(value)
    }

    fn place(&self, key: K) -> Result<usize, usize> {
        self.kept.binary_search_by_key(&key, |(key, _)| *key)
    }

    fn take_all(&mut self) -> Vec<(K, V)> {
        let kept = mem::replace(self, Self::new()).kept.into_iter();
        kept.filter_map(|(key, value)| Some((key, value?)))
            .collect()
    }
}

/// What happens next.
pub(crate) enum Next<K, Q, M: MayWait, S, O> {
    /// The turn of an attempt has come after that time, or never does.
    Turn(K, Q, InLine<M>, Result<Duration, RejectedBy>),
    /// An attempt ended.
    Ended(K, S, O),
    /// It is cancelled, so that none of these begins.
    Cancelled(Vec<(K, Q)>),
    /// The time is up, so that none of the former begins, and the latter are dropped.
    TimeIsUp(Vec<(K, Q)>, Vec<(K, S)>),
}

/// The turn of an attempt, when it comes.
pub(crate) type Turned<K, M> = (K, InLine<M>, Result<Duration, RejectedBy>);

/// Waits for the turn of the attempt with that key.
pub(crate) async fn turn<K, M: MayWait>(
    key: K,
    mut place: InLine<M>,
    timer: &impl Timer,
    deadline: Option<Moment>,
) -> Turned<K, M> {
    // What cancels one cancels all: it is watched for them together.
    let waited = M::wait(&mut place, timer, deadline, pin!(pending::<()>())).await;
    (key, place, waited)
}

impl<K, Q, W, S, A, M, O> UnderWay<K, Q, W, S, A>
where
    K: Copy + Ord,
    W: Future<Output = Turned<K, M>>,
    M: MayWait,
    A: Future<Output = (K, O)>,
{
    pub(crate) fn new() -> Self {
        Self {
            turns: FuturesUnordered::new(),
            queued: Entries::new(),
            attempts: FuturesUnordered::new(),
            begun: Entries::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.queued.left + self.begun.left
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An attempt waits for its turn.
    pub(crate) fn wait(&mut self, key: K, queued: Q, turn: W) {
        self.queued.insert(key, queued);
        self.turns.push(turn);
    }

    /// An attempt begins.
    pub(crate) fn begin(&mut self, key: K, begun: S, attempt: A) {
        self.begun.insert(key, begun);
        self.attempts.push(attempt);
    }

    /// Waits for what happens next. Not asked where nothing is under way.
    pub(crate) async fn next(
        &mut self,
        mut end: Pin<&mut impl Future<Output = ()>>,
        signal: &mut Signal<'_, impl Future>,
    ) -> Next<K, Q, M, S, O> {
        poll_fn(|context| {
            if let Poll::Ready(next) = self.poll(context, signal) {
                return Poll::Ready(next);
            }
            skip::unskipped(|| end.as_mut().poll(context)).map(|()| {
                self.turns.clear();
                self.attempts.clear();
                Next::TimeIsUp(self.queued.take_all(), self.begun.take_all())
            })
        })
        .await
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        signal: &mut Signal<'_, impl Future>,
    ) -> Poll<Next<K, Q, M, S, O>> {
        while let Poll::Ready(Some((key, outcome))) = self.attempts.poll_next_unpin(context) {
            if let Some(begun) = self.begun.take(key) {
                return Poll::Ready(Next::Ended(key, begun, outcome));
            }
        }
        if self.queued.left == 0 {
            return Poll::Pending;
        }
        if signal.poll(context) {
            self.turns.clear();
            return Poll::Ready(Next::Cancelled(self.queued.take_all()));
        }
        while let Poll::Ready(Some((key, place, waited))) = self.turns.poll_next_unpin(context) {
            if let Some(queued) = self.queued.take(key) {
                return Poll::Ready(Next::Turn(key, queued, place, waited));
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::collections::btree_map::Entry;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::Entries;

    proptest! {
        /// As a map: whatever comes and goes in which order.
        #[test]
        fn entries_are_those_that_were_not_taken(
            steps in prop::collection::vec((any::<bool>(), 0_u64..40), 0..200),
        ) {
            let (mut entries, mut map) = (Entries::new(), BTreeMap::new());
            for (number, (comes, key)) in (0..).zip(steps) {
                if !comes {
                    prop_assert_eq!(entries.take(key), map.remove(&key));
                } else if let Entry::Vacant(place) = map.entry(key) {
                    entries.insert(key, number);
                    place.insert(number);
                }
                prop_assert_eq!(entries.left, map.len());
                // What was taken makes up no more than half, so that it goes away with what is left.
                prop_assert!(entries.kept.len() <= 2 * entries.left + 1);
            }
            prop_assert_eq!(entries.take_all(), map.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(entries.left, 0);
        }
    }
}
