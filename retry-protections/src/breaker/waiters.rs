use std::collections::VecDeque;
use std::task::Waker;
use std::time::Duration;
use std::vec::Vec;

use retry_runtime::Moment;

/// Calls that wait while a breaker is open, in the order in which they came. After it closes, they begin gradually:
/// otherwise they would all begin at once, and bring the server down again.
#[derive(Debug)]
pub(super) struct Waiters {
    waiting: VecDeque<(u64, Option<Waker>)>,
    /// The number of the next call that waits.
    next: u64,
    /// When the breaker last closed.
    closed: Option<Moment>,
    /// The number of waiting calls that have begun since then.
    begun: u32,
}

/// The number of waiting calls that may begin as soon as the breaker closes.
const FIRST: f64 = 2.0;
/// The time in which the number of calls that may have begun doubles.
const DOUBLED: Duration = Duration::from_secs(1);

impl Waiters {
    pub(super) const fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            next: 0,
            closed: None,
            begun: 0,
        }
    }

    /// Records that the breaker closes.
    pub(super) fn resume(&mut self, now: Moment) {
        (self.closed, self.begun) = (Some(now), 0);
    }

    /// Adds a call that waits. Returns its number.
    pub(super) fn enter(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting.push_back((number, None));
        number
    }

    /// The number of calls that wait before this one.
    pub(super) fn ahead(&self, number: u64) -> usize {
        let place = self
            .waiting
            .binary_search_by_key(&number, |(number, _)| *number);
        place.unwrap_or_else(|place| place)
    }

    /// Stores the call's waker. Returns the previous one, which must be dropped after the lock is released.
    pub(super) fn keep(&mut self, number: u64, waker: Waker) -> Option<Waker> {
        let place = self.ahead(number);
        let (_, kept) = self.waiting.get_mut(place)?;
        kept.replace(waker)
    }

    /// The time until this call may begin, if the breaker is closed; zero if it may begin now. Calls before it need not
    /// have begun.
    pub(super) fn turn_in(&self, number: u64, now: Moment) -> Duration {
        let Some(closed) = self.closed else {
            return Duration::ZERO;
        };
        let ahead = u32::try_from(self.ahead(number)).unwrap_or(u32::MAX);
        let rank = f64::from(self.begun) + f64::from(ahead) + 1.0;
        let turn = DOUBLED.mul_f64((rank / FIRST).log2().max(0.0));
        turn.saturating_sub(now.since(closed))
    }

    /// Counts the call as begun, and removes it. Returns its waker, which must be dropped after the lock is released.
    pub(super) fn begin(&mut self, number: u64) -> Option<Waker> {
        self.begun = self.begun.saturating_add(1);
        self.leave(number)
    }

    /// Removes the call. Returns its waker, which must be dropped after the lock is released.
    pub(super) fn leave(&mut self, number: u64) -> Option<Waker> {
        let place = self.ahead(number);
        self.waiting.remove(place)?.1
    }

    /// Takes the wakers of all waiting calls, to be woken after the lock is released.
    pub(super) fn wakers(&mut self) -> Vec<Waker> {
        let wakers = self
            .waiting
            .iter_mut()
            .filter_map(|(_, waker)| waker.take());
        wakers.collect()
    }
}
