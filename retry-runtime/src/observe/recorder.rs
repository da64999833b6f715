use alloc::sync::Arc;
use core::time::Duration;

use crate::observe::call_end::{CallEnd, CallOutcome};
use crate::observe::{Event, Observer, Reason};
use crate::sync::{Mutex, MutexGuard, lock};

/// What calls did, for a test to compare with what they should have done.
///
/// A [`Scope`](crate::testing::Scope) and a [`Recording`](crate::testing::Recording) are read by these methods. These hold what is
/// logged, so nothing of a call whose first attempt succeeds. A recorder of your own, named with the key `observe`,
/// sees such calls, too:
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::testing::{Recorder, fail_times, skip_sleeps};
/// use retry_runtime::{Jitter, Observer, Policy, Reason};
///
/// let policy = Policy::fixed(Duration::from_secs(1)).jitter(Jitter::None).max(2);
/// let _skipped = skip_sleeps();
/// let recorder = Recorder::new();
/// for failures in [0, 2, 3] {
///     let server = fail_times(failures, String::from("busy"));
///     let call = policy.on(|_: &String| true).observe(|event| recorder.observe(event));
///     let _ = call.call_blocking(|| server.next());
/// }
/// assert_eq!(recorder.attempts(), [1, 3, 3]);
/// assert_eq!(recorder.delays(), [Duration::from_secs(1); 4]);
/// assert_eq!(recorder.reasons(), [Reason::Exhausted]);
/// ```
///
/// A clone has the same events.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Mutex<Vec<Recorded>>>);

#[derive(Clone, Debug)]
struct Recorded {
    call: String,
    /// `None` of what is not logged.
    line: Option<String>,
    delay: Option<Duration>,
    end: Option<CallEnd>,
}

impl Recorder {
    /// A recorder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a line of a call, or the event that it is about, or both.
    pub(crate) fn record(&self, call: &str, line: Option<String>, event: Option<&Event<'_>>) {
        self.entries().push(Recorded {
            call: call.to_owned(),
            line,
            delay: event.and_then(Event::pause),
            end: event.and_then(Event::call_end),
        });
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Recorded>> {
        lock(&self.0)
    }

    /// A copy of what was recorded so far of the calls of that name. It does not grow.
    #[must_use]
    pub fn of(&self, name: &str) -> Self {
        let entries = self.entries();
        let entries = entries.iter().filter(|entry| entry.call == name);
        Self(Arc::new(Mutex::new(entries.cloned().collect())))
    }

    /// The events, one line each, as the `Display` of [`Event`] prints them. Errors are as in the log.
    pub fn lines(&self) -> Vec<String> {
        let entries = self.entries();
        let lines = entries.iter().filter_map(|entry| entry.line.clone());
        lines.collect()
    }

    /// The pauses, in the order in which they began.
    pub fn delays(&self) -> Vec<Duration> {
        let entries = self.entries();
        entries.iter().filter_map(|entry| entry.delay).collect()
    }

    /// How many attempts each call made, in the order in which the calls ended.
    pub fn attempts(&self) -> Vec<u32> {
        self.ends(|end| Some(end.attempts))
    }

    /// Why calls gave up, in the order in which they did.
    pub fn reasons(&self) -> Vec<Reason> {
        self.ends(|end| match end.outcome {
            CallOutcome::GaveUp(reason) => Some(reason),
            CallOutcome::Succeeded | CallOutcome::FellBack => None,
        })
    }

    fn ends<T>(&self, part: impl Fn(CallEnd) -> Option<T>) -> Vec<T> {
        let entries = self.entries();
        let ends = entries.iter().filter_map(|entry| entry.end);
        ends.filter_map(part).collect()
    }
}

impl Observer for Recorder {
    fn observe(&self, event: &Event<'_>) {
        // Formatted before anything is locked: the user's `Display` may make a call of its own.
        let line = event.to_string();
        self.record(event.call, Some(line), Some(event));
    }
}
