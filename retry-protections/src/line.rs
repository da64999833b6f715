use std::collections::VecDeque;
use std::task::Waker;
use std::vec::Vec;

use retry_runtime::seam::{Admission, Moment};

use crate::clock;

/// Waiting attempts, in order of arrival.
///
/// A waker runs the executor's code when it is called or dropped, so call or drop a returned waker only after the lock
/// around the line is released.
#[derive(Debug)]
pub(crate) struct Line {
    waiting: VecDeque<Waiting>,
    /// The number of the next attempt that has to wait.
    next: u64,
}

#[derive(Debug)]
pub(crate) struct Waiting {
    number: u64,
    /// `None` after the attempt was woken, until it is polled again.
    waker: Option<Waker>,
    /// The time at which this attempt, if it is first, should be polled again. `None` if unknown.
    due: Option<Moment>,
}

impl Waiting {
    fn is_absent(&self, now: Moment) -> bool {
        let late = self.due.and_then(|due| now.checked_since(due));
        late.is_some_and(|late| late >= Admission::ABSENT)
    }
}

impl Line {
    pub(crate) const fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            next: 0,
        }
    }

    /// Adds an attempt at the end. Returns its number.
    pub(crate) fn enter(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting.push_back(Waiting {
            number,
            waker: None,
            due: None,
        });
        number
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The number of attempts before this one. `None` if the attempt isn't in this line.
    pub(crate) fn position(&self, number: u64) -> Option<usize> {
        let numbers = self.waiting.binary_search_by_key(&number, |one| one.number);
        numbers.ok()
    }

    /// Stores the waker of the attempt at this place, which was polled and not admitted. Returns its previous waker.
    pub(crate) fn store_waker(
        &mut self,
        place: usize,
        waker: Waker,
        due: Option<Moment>,
    ) -> Option<Waker> {
        let waiting = self.waiting.get_mut(place)?;
        waiting.due = due;
        waiting.waker.replace(waker)
    }

    /// Removes an attempt, with its waker.
    #[cold]
    pub(crate) fn remove(&mut self, number: u64) -> Option<Waiting> {
        let place = self.position(number)?;
        self.waiting.remove(place)
    }

    /// Takes the wakers of all attempts.
    pub(crate) fn take_wakers(&mut self) -> Vec<Waker> {
        let wakers = self.waiting.iter_mut().filter_map(|one| one.waker.take());
        wakers.collect()
    }

    /// The place of the first attempt that is not absent.
    fn leading_absent(&self, now: Moment) -> usize {
        let present = self.waiting.iter().position(|one| !one.is_absent(now));
        present.unwrap_or(self.len())
    }

    /// Returns true if at least `most` attempts wait, not counting absent ones at the front.
    pub(crate) fn is_full(&self, most: usize) -> bool {
        self.len() >= most && self.len() - self.leading_absent(clock::now()) >= most
    }

    /// Returns true if all attempts before this place are absent.
    pub(crate) fn is_next(&self, place: usize) -> bool {
        place == 0 || self.leading_absent(clock::now()) >= place
    }

    /// Marks the first attempt that is not absent as due. Returns its waker.
    #[inline]
    pub(crate) fn mark_first_due(&mut self) -> Option<Waker> {
        if self.waiting.is_empty() {
            None
        } else {
            self.mark_first_present()
        }
    }

    #[cold]
    #[inline(never)]
    fn mark_first_present(&mut self) -> Option<Waker> {
        let now = clock::now();
        let present = self.leading_absent(now);
        let first = self.waiting.get_mut(present)?;
        let waker = first.waker.take();
        if waker.is_some() || first.due.is_none() {
            first.due = Some(now);
        }
        waker
    }

    /// Checks which attempts before this place are still polled: from the first present one on, marks them as due now,
    /// and returns their wakers. Does nothing unless the first attempt is absent and the first present one is not yet
    /// due.
    pub(crate) fn check_ahead(&mut self, place: usize) -> Vec<Waker> {
        let now = clock::now();
        let present = self.leading_absent(now);
        if !(1..place).contains(&present) || self.waiting[present].due.is_some() {
            return Vec::new();
        }
        let called = self.waiting.range_mut(present..place);
        let call = |one: &mut Waiting| {
            one.due.get_or_insert(now);
            one.waker.take()
        };
        called.filter_map(call).collect()
    }
}
