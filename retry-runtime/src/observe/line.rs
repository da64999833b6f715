use core::fmt;

use crate::observe::fields::Fields;
use crate::observe::reason::Reason;
use crate::observe::record::Level;
use crate::observe::report::report_line;

/// A line of the log that isn't an event: about a plan or one of its subtasks.
pub struct Line<'a> {
    /// The name with which the line starts.
    pub name: &'static str,
    /// The name of the plan or the subtask.
    pub call: &'a dyn fmt::Display,
    /// The number of the subtask's execution.
    pub attempt: Option<u32>,
    /// The error.
    pub error: Option<&'a dyn fmt::Display>,
    /// The reason for giving up.
    pub reason: Option<Reason>,
    /// Text at the end of the line.
    pub summary: Option<&'a dyn fmt::Display>,
}

impl<'a> Line<'a> {
    /// A line with only its two names.
    pub fn new(name: &'static str, call: &'a dyn fmt::Display) -> Self {
        Self {
            name,
            call,
            attempt: None,
            error: None,
            reason: None,
            summary: None,
        }
    }

    /// Logs the line, and records it in tests as one of the calls of that name.
    pub fn report(&self, level: Level, recorded: &str) {
        let fields = Fields {
            error: self.error,
            reason: self.reason.map(Reason::name),
            summary: self.summary,
            ..Fields::new(self.name, level, self.call, self.attempt)
        };
        report_line(recorded, &fields);
    }
}
