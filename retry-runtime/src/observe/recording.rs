//! Recordings for tests: of the calls on a thread, or of the calls that a recorder observes.

use alloc::sync::Arc;
use core::cell::RefCell;
use core::fmt::Display;
use core::time::Duration;

use crate::observe::event::CallEnd;
use crate::observe::{Event, Observer, Reason};
use crate::sync::{Mutex, lock};

/// The events of calls, for a test to check.
///
/// A [`Scope`](crate::testing::Scope) and a [`Recording`](crate::testing::Recording) have the same methods. They
/// contain only logged events, so nothing about a call whose first attempt succeeded. A recorder that you set with the
/// key `observe` also contains such calls:
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
/// Clones share their events.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Mutex<Vec<Recorded>>>);

#[derive(Clone, Debug)]
struct Recorded {
    call: String,
    /// `None` if the event is not logged.
    line: Option<String>,
    delay: Option<Duration>,
    end: Option<(u32, CallEnd)>,
}

impl Recorder {
    /// An empty recorder.
    pub fn new() -> Self {
        Self::default()
    }

    fn record(&self, call: &str, line: Option<String>, event: Option<&Event<'_>>) {
        lock(&self.0).push(Recorded {
            call: call.to_owned(),
            line,
            delay: event.and_then(Event::pause),
            end: event.and_then(Event::call_end),
        });
    }

    fn filter_map<T>(&self, part: impl Fn(&Recorded) -> Option<T>) -> Vec<T> {
        lock(&self.0).iter().filter_map(part).collect()
    }

    /// Returns a copy of the events so far of calls with this name. The copy does not receive later events.
    #[must_use]
    pub fn of(&self, name: &str) -> Self {
        let of_call = |entry: &Recorded| (entry.call == name).then(|| entry.clone());
        Self(Arc::new(Mutex::new(self.filter_map(of_call))))
    }

    /// The logged events, one line each, as printed by the `Display` of [`Event`]. Errors are shown as in the log.
    pub fn lines(&self) -> Vec<String> {
        self.filter_map(|entry| entry.line.clone())
    }

    /// The pauses, in the order in which they started.
    pub fn delays(&self) -> Vec<Duration> {
        self.filter_map(|entry| entry.delay)
    }

    /// The number of attempts of each call, in the order in which the calls ended.
    pub fn attempts(&self) -> Vec<u32> {
        self.filter_map(|entry| entry.end.map(|(attempts, _)| attempts))
    }

    /// The reasons that calls gave up, in the order in which the calls ended.
    pub fn reasons(&self) -> Vec<Reason> {
        self.filter_map(|entry| match entry.end {
            Some((_, CallEnd::GaveUp(reason))) => Some(reason),
            _ => None,
        })
    }
}

impl Observer for Recorder {
    fn observe(&self, event: &Event<'_>) {
        // Formatted before anything is locked: the user's `Display` may make a retried call.
        let line = event.to_string();
        self.record(event.call, Some(line), Some(event));
    }
}

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Sets the recorder of this thread's calls. With `None`, they are not recorded. Returns the previous recorder.
pub(crate) fn replace(recorder: Option<Recorder>) -> Option<Recorder> {
    RECORDER.replace(recorder)
}

/// Records a call's log line and event with this thread's recorder, if there is one. `line` is `None` if the event is
/// not logged; `event` is `None` for a line that isn't an event.
pub(crate) fn record(call: &str, line: Option<&dyn Display>, event: Option<&Event<'_>>) {
    if let Some(recorder) = current() {
        recorder.record(call, line.map(ToString::to_string), event);
    }
}

/// The recorder of this thread's calls, if there is one. `None` while the thread is being destroyed.
pub(crate) fn current() -> Option<Recorder> {
    RECORDER.try_with(|current| current.borrow().clone()).ok()?
}
