//! The durations in events.

use retry_classify::Kind;

use crate::observe::{AttemptEnd, Event, EventData, Observe};
use crate::time::Moment;

/// Adds the durations of the call and its attempts to the events of one call, for your own loops.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::own_loop::{Call, Failure, Site};
/// use retry_runtime::seam::{Moment, Stopwatch};
/// use retry_runtime::{Event, Policy, Verdict};
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
/// call.started(site.name(), &mut |event| stopwatch.forward(event, &began, &mut observer));
/// let failed = at(103);
/// let mut observe = |event: &Event<'_>| stopwatch.forward(event, &failed, &mut observer);
/// let failure = Failure::new(&site, Verdict::TRANSIENT, &"503").observe(&mut observe);
/// assert!(call.failed_with(failure).is_ok());
///
/// let after = |seconds| Some(Duration::from_secs(seconds));
/// assert_eq!(times, [(after(0), None), (after(3), after(3))]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Stopwatch {
    /// The time of the call's first event.
    call: Option<Moment>,
    /// The number and start of the current attempt. `None` once the attempt has ended.
    attempt: Option<(u32, Moment)>,
}

impl Stopwatch {
    /// Creates a stopwatch for a new call.
    pub const fn new() -> Self {
        Self {
            call: None,
            attempt: None,
        }
    }

    /// Adds the times to the event, and passes it to the observer. `now` reads the clock of the call's timer.
    pub fn forward(&mut self, event: &Event<'_>, now: &dyn Fn() -> Moment, observe: Observe<'_>) {
        let now = now();
        let began = *self.call.get_or_insert(now);
        if matches!(event.data, EventData::Started) {
            // A stopwatch times one attempt at a time, so it ignores an attempt that `hedge` starts next to another.
            self.attempt.get_or_insert((event.attempt, now));
        }
        // A rejection is not the end of an attempt: in a batch, one may be in flight while another is rejected.
        let end = event.attempt_end();
        let has_ended = end.is_some_and(|end| end != AttemptEnd::Failed(Kind::Rejected));
        let ended = self
            .attempt
            .filter(|(number, _)| has_ended && *number == event.attempt);
        observe(&Event {
            elapsed: Some(now.since(began)),
            attempt_elapsed: ended.map(|(_, began)| now.since(began)),
            ..*event
        });
        if ended.is_some() || has_ended && event.pause().is_some() {
            self.attempt = None;
        }
    }
}
