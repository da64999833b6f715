use std::collections::VecDeque;
use std::task::Waker;
use std::time::Duration;
use std::vec::Vec;

use retry_runtime::Moment;

/// Calls that wait while a breaker is open, in the order in which they came. Once it closes, they begin slowly:
/// otherwise all would come as one wave, and bring the server down again.
#[derive(Debug)]
pub(super) struct Waiters {
    waiting: VecDeque<(u64, Option<Waker>)>,
    /// The number of the next.
    next: u64,
    /// When the breaker closed last.
    closed: Option<Moment>,
    /// How many began since.
    begun: u32,
}

/// So many begin as soon as the breaker closes.
const FIRST: f64 = 2.0;
/// The time in which those that may have begun become twice as many.
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

    /// The breaker closes.
    pub(super) fn resume(&mut self, now: Moment) {
        (self.closed, self.begun) = (Some(now), 0);
    }

    /// The number of another that waits.
    pub(super) fn enter(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting.push_back((number, None));
        number
    }

    /// How many wait before that number.
    pub(super) fn ahead(&self, number: u64) -> usize {
        let place = self
            .waiting
            .binary_search_by_key(&number, |(number, _)| *number);
        place.unwrap_or_else(|place| place)
    }

    /// Keeps what wakes that number. Returns the last one, to be dropped without the lock.
    pub(super) fn keep(&mut self, number: u64, waker: Waker) -> Option<Waker> {
        let place = self.ahead(number);
        let (_, kept) = self.waiting.get_mut(place)?;
        kept.replace(waker)
    }

    /// After how long that number may begin, if the breaker is closed. Those before it don't have to begin first.
    pub(super) fn turn_in(&self, number: u64, now: Moment) -> Duration {
        let Some(closed) = self.closed else {
            return Duration::ZERO;
        };
        let ahead = u32::try_from(self.ahead(number)).unwrap_or(u32::MAX);
        let rank = f64::from(self.begun) + f64::from(ahead) + 1.0;
        let turn = DOUBLED.mul_f64((rank / FIRST).log2().max(0.0));
        turn.saturating_sub(now.since(closed))
    }

    /// Begins the call with that number.
    pub(super) fn begin(&mut self, number: u64) -> Option<Waker> {
        self.begun = self.begun.saturating_add(1);
        self.leave(number)
    }

    /// Forgets that number. Returns its waker, to be dropped without the lock.
    pub(super) fn leave(&mut self, number: u64) -> Option<Waker> {
        let place = self.ahead(number);
        self.waiting.remove(place)?.1
    }

    /// What wakes all of them, to be called without the lock.
    pub(super) fn wakers(&mut self) -> Vec<Waker> {
        let wakers = self
            .waiting
            .iter_mut()
            .filter_map(|(_, waker)| waker.take());
        wakers.collect()
    }
}
