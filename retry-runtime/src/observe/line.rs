use core::fmt;

use crate::observe::{Fields, Level, Reason, report_line};

/// A line of the log that isn't an event: about a plan or one of its subtasks.
#[derive(Default)]
pub struct Line<'a> {
    /// The number of the subtask's execution.
    pub attempt: Option<u32>,
    /// The error.
    pub error: Option<&'a dyn fmt::Display>,
    /// The reason for giving up.
    pub reason: Option<Reason>,
    /// Text at the end of the line.
    pub summary: Option<&'a dyn fmt::Display>,
}

impl Line<'_> {
    /// Logs the line, which starts with `name` and the name of the plan or the subtask. Records it in tests as one of
    /// the calls of the name `recorded`.
    pub fn report(
        &self,
        name: &'static str,
        level: Level,
        call: &dyn fmt::Display,
        recorded: &str,
    ) {
        let fields = Fields {
            error: self.error,
            reason: self.reason.map(Reason::name),
            summary: self.summary,
            ..Fields::new(name, level, call, self.attempt)
        };
        report_line(recorded, &fields);
    }
}
