//! One call's bookkeeping: how many attempts failed, and which count a failure counts against.

mod plain;

use std::time::Duration;

use crate::emit::{Observe, Record, emit};
#[cfg(feature = "batch")]
use crate::failure::Decision;
pub use crate::failure::Failure;
use crate::policy::schedule::limit;
use crate::{Event, Kind, Policy, Reason};

/// The count that every call keeps. Enough where delays depend on nothing else: no section with a `max` of
/// its own, no decorrelated jitter, no validation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call {
    retries: u32,
}

impl Call {
    /// A call before its first attempt.
    #[inline]
    pub const fn new() -> Self {
        Self { retries: 0 }
    }

    /// The call after one more retry.
    #[inline]
    pub const fn next(self) -> Self {
        Self {
            retries: self.retries.saturating_add(1),
        }
    }

    /// The pause before the next attempt, or why there is none.
    #[cold]
    #[inline(never)]
    pub fn failed(&mut self, failure: Failure<'_>) -> Result<Duration, Reason> {
        let attempt = self.attempt();
        let mut previous = Duration::ZERO;
        failure.settle(attempt, &mut self.retries, &mut previous, 0)
    }

    /// Whether an attempt failed before.
    #[inline]
    pub const fn is_retried(&self) -> bool {
        self.retries != 0
    }

    /// Reports a success after a failure.
    #[inline]
    pub fn healed(self, max: u32, name: &str) {
        if self.is_retried() {
            self.report_healed(max, name);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_healed(self, max: u32, name: &str) {
        let event = move || Event::Succeeded {
            call: name,
            attempt: self.attempt(),
            corrections: 0,
            max: limit(max),
        };
        emit(Record::Succeeded, event, None);
    }

    /// Reports a success, to the call's own observer even where no attempt failed.
    #[cold]
    #[inline(never)]
    pub fn succeeded(self, max: u32, name: &str, observe: Observe<'_>) {
        succeeded(max, name, self.attempt(), 0, observe);
    }

    /// The number of the attempt under way, from 1.
    pub const fn attempt(&self) -> u32 {
        self.retries.saturating_add(1)
    }
}

/// A call that keeps all that any policy can ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrackedCall {
    /// Retries that count against the policy's `max`.
    shared: u32,
    /// Retries that count against a section's own `max`, by [`Kind`].
    own: [u32; 4],
    /// Those of them that were no attempts.
    corrections: u32,
    /// The last delay, which decorrelated jitter builds on.
    previous: Duration,
}

impl TrackedCall {
    /// A call before its first attempt.
    #[inline]
    pub const fn new() -> Self {
        Self {
            shared: 0,
            own: [0; 4],
            corrections: 0,
            previous: Duration::ZERO,
        }
    }

    /// The pause before the next attempt, or why there is none.
    #[cold]
    #[inline(never)]
    pub fn failed(&mut self, failure: Failure<'_>) -> Result<Duration, Reason> {
        let attempt = self.attempt();
        let correction = self.corrections.saturating_add(1);
        let is_corrected = failure.is_corrected();
        let (count, previous) = self.counts(&failure);
        let pause = failure.settle(attempt, count, previous, correction)?;
        if is_corrected {
            self.corrections = correction;
        }
        Ok(pause)
    }

    /// The limit in force, and the pause or the reason why there is none. Nobody is told.
    #[cfg(feature = "batch")]
    pub(crate) fn decide(&mut self, mut failure: Failure<'_>) -> (Option<u32>, Decision) {
        let (count, previous) = self.counts(&failure);
        failure.decide(count, previous)
    }

    /// What the failure counts against, and the delay before.
    fn counts(&mut self, failure: &Failure<'_>) -> (&mut u32, &mut Duration) {
        let count = match failure.kind_with_own_count() {
            Some(kind) => &mut self.own[kind as usize],
            None => &mut self.shared,
        };
        (count, &mut self.previous)
    }

    /// Whether an attempt failed before.
    #[inline]
    pub const fn is_retried(&self) -> bool {
        self.corrections != 0 || self.attempt() != 1
    }

    /// Reports a success after a failure.
    #[inline]
    pub fn healed(self, max: u32, name: &str) {
        if self.is_retried() {
            self.report_healed(max, name);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_healed(self, max: u32, name: &str) {
        healed(max, name, self.attempt(), self.corrections, None);
    }

    /// Reports a success, to the call's own observer even where nothing failed.
    #[cold]
    #[inline(never)]
    pub fn succeeded(self, max: u32, name: &str, observe: Observe<'_>) {
        succeeded(max, name, self.attempt(), self.corrections, observe);
    }

    /// Whether no retry can follow, whatever kind of failure the attempt under way meets.
    pub fn is_last(&self, policy: &Policy, validates: bool) -> bool {
        [
            Kind::Transient,
            Kind::Throttled,
            Kind::Timeout,
            Kind::Invalid,
        ]
        .iter()
        .all(|kind| {
            let section = policy.section(*kind, validates);
            let count = match section.max {
                Some(_) => self.own[*kind as usize],
                None => self.shared,
            };
            !policy
                .schedule
                .with(&section)
                .allows(count.saturating_add(1))
        })
    }

    /// The number of the attempt under way, from 1.
    pub const fn attempt(&self) -> u32 {
        let [transient, throttled, timeout, invalid] = self.own;
        self.shared
            .saturating_add(transient)
            .saturating_add(throttled)
            .saturating_add(timeout)
            .saturating_add(invalid)
            .saturating_sub(self.corrections)
            .saturating_add(1)
    }
}

/// Reports a success after a failure.
pub(crate) fn healed(
    max: u32,
    name: &str,
    attempt: u32,
    corrections: u32,
    observe: Option<Observe<'_>>,
) {
    emit(
        Record::Succeeded,
        success(max, name, attempt, corrections),
        observe,
    );
}

fn succeeded(max: u32, name: &str, attempt: u32, corrections: u32, observe: Observe<'_>) {
    if attempt > 1 || corrections > 0 {
        healed(max, name, attempt, corrections, Some(observe));
    } else {
        observe(&success(max, name, attempt, corrections)());
    }
}

fn success<'a>(max: u32, name: &'a str, attempt: u32, corrections: u32) -> impl Fn() -> Event<'a> {
    move || Event::Succeeded {
        call: name,
        attempt,
        corrections,
        max: limit(max),
    }
}
