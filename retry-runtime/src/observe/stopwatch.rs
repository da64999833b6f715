//! The times that events carry.

use core::cell::Cell;
use core::time::Duration;

use crate::observe::event::{Event, EventData};
use crate::time::moment::Moment;

/// Adds to the events of one call how long the call and its attempts take, for loops of your own.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Call, Event, Failure, Moment, Policy, Site, Stopwatch, Verdict};
///
/// const POLICY: Policy = Policy::none().max(1);
/// let site = Site::new(&POLICY, "model.fetch");
/// let mut times = Vec::new();
/// let mut observer = |event: &Event<'_>| {
///     times.push((event.elapsed(), event.attempt_elapsed()));
/// };
/// let (mut call, mut stopwatch) = (Call::new(), Stopwatch::new());
/// let at = |seconds| move || Moment::from_origin(Duration::from_secs(seconds));
///
/// let began = at(100);
/// call.started(site.name(), &mut |event| stopwatch.tell(event, &began, &mut observer));
/// let failed = at(103);
/// let mut observe = |event: &Event<'_>| stopwatch.tell(event, &failed, &mut observer);
/// let failure = Failure::new(&site, Verdict::TRANSIENT, &"503").observe(&mut observe);
/// assert!(call.failed_with(failure).is_ok());
///
/// let after = |seconds| Some(Duration::from_secs(seconds));
/// assert_eq!(times, [(after(0), None), (after(3), after(3))]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Stopwatch {
    /// When the call began, if its observer asked then.
    call: Option<Moment>,
    /// When the attempt of that number began, if the observer asked then, and if it has not ended.
    attempt: Option<Moment>,
    number: u32,
    /// Whether the call has had an event.
    has_begun: bool,
}

impl Stopwatch {
    /// A stopwatch for a call before its first event.
    #[inline]
    pub const fn new() -> Self {
        Self {
            call: None,
            attempt: None,
            number: 0,
            has_begun: false,
        }
    }

    /// Hands the event over to that observer, with its times. `now` reads the clock of the call's timer; it is called
    /// only if the observer asks.
    pub fn tell(
        &mut self,
        event: &Event<'_>,
        now: &dyn Fn() -> Moment,
        observe: impl FnOnce(&Event<'_>),
    ) {
        let reading = Reading {
            stopwatch: Cell::from_mut(self),
            now,
            read: Cell::new(None),
        };
        observe(&event.with_reading(&reading));
        self.has_begun = true;
        if event.pause().is_some() {
            self.attempt = None;
        } else if event.attempt_end().is_some() {
            self.forget_attempt(event.attempt);
        }
    }

    /// Leaves out the time of the attempt of that number, because it is told of later than it ends.
    pub(crate) fn forget_attempt(&mut self, number: u32) {
        if self.number == number {
            self.attempt = None;
        }
    }
}

/// What an event reads its times from.
pub(crate) struct Reading<'a> {
    stopwatch: &'a Cell<Stopwatch>,
    now: &'a dyn Fn() -> Moment,
    /// What the clock said, which is the same for all that observe the event.
    read: Cell<Option<Moment>>,
}

impl Reading<'_> {
    /// How long the call has taken.
    pub(super) fn elapsed(&self, event: &Event<'_>) -> Option<Duration> {
        self.since(self.asked(event).call)
    }

    /// How long the attempt took that ended with the event.
    pub(super) fn attempt_elapsed(&self, event: &Event<'_>) -> Option<Duration> {
        let asked = self.asked(event);
        event.attempt_end()?;
        self.since(asked.attempt.filter(|_| asked.number == event.attempt))
    }

    /// The observer asks: what begins with the event begins now.
    fn asked(&self, event: &Event<'_>) -> Stopwatch {
        let mut stopwatch = self.stopwatch.get();
        if !stopwatch.has_begun {
            stopwatch.call = Some(self.now());
        }
        // One that begins beside it has no room.
        if matches!(event.data, EventData::Started) && stopwatch.attempt.is_none() {
            (stopwatch.attempt, stopwatch.number) = (Some(self.now()), event.attempt);
        }
        self.stopwatch.set(stopwatch);
        stopwatch
    }

    fn since(&self, began: Option<Moment>) -> Option<Duration> {
        began.map(|began| self.now().since(began))
    }

    fn now(&self) -> Moment {
        let now = self.read.get().unwrap_or_else(self.now);
        self.read.set(Some(now));
        now
    }
}
