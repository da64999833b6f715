//! What a test records: see `testing::record`.

use core::cell::RefCell;

use crate::observe::event::Event;
use crate::observe::fields::Fields;
use crate::observe::recorder::Recorder;

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Records there what this thread's calls report, or nowhere. Returns where it did before.
pub(crate) fn replace(recorder: Option<Recorder>) -> Option<Recorder> {
    RECORDER.replace(recorder)
}

pub(crate) fn record(event: &Event<'_>) {
    if let Some(recorder) = here() {
        recorder.record(event.call, Some(event.to_string()), Some(event));
    }
}

/// Records the end of a call that the log has from other events.
#[cfg(feature = "batch")]
pub(crate) fn record_end(event: &Event<'_>) {
    if let Some(recorder) = here() {
        recorder.record(event.call, None, Some(event));
    }
}

/// Records a line that is no event's.
pub(crate) fn record_line(call: &str, line: &Fields<'_>) {
    if let Some(recorder) = here() {
        recorder.record(call, Some(line.to_string()), None);
    }
}

/// Where this thread's calls are recorded. Nowhere while the thread ends.
pub(crate) fn here() -> Option<Recorder> {
    RECORDER.try_with(|here| here.borrow().clone()).ok()?
}
