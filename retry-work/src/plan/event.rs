//! A plan's log records, apart from the rounds of `run_until`, which are logged like the attempts of a call.

use std::fmt;

use retry_runtime::Reason;
use retry_runtime::macro_support::{Fields, Level, report_line};

use crate::plan::Summary;

/// The status of a subtask that fails again after an earlier failure.
#[derive(Clone, Copy)]
pub(crate) enum RepeatFailure {
    DeadEnd,
    Failed,
}

#[derive(Clone, Copy)]
pub(crate) enum Exit {
    Completed,
    /// Completed after a failure.
    Recovered,
    Failed,
    DeadEnd,
    /// Rejected by the breaker or the limiter.
    NotBegun,
    /// Dropped during its execution.
    GaveUp,
}

impl Exit {
    const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Recovered => "recovered",
            Self::Failed => "failed",
            Self::DeadEnd => "dead end",
            Self::NotBegun => "not begun",
            Self::GaveUp => "gave up",
        }
    }

    const fn level(self) -> Level {
        match self {
            Self::Completed => Level::Debug,
            Self::Recovered => Level::Info,
            Self::Failed | Self::DeadEnd | Self::NotBegun | Self::GaveUp => Level::Warn,
        }
    }
}

/// Reports the status of a subtask after the given number of executions.
pub(crate) fn report_subtask(
    ended: Exit,
    plan: &str,
    subtask: &str,
    attempt: u32,
    error: Option<&dyn fmt::Display>,
    reason: Option<Reason>,
) {
    let call = format!("{plan}.{subtask}");
    let fields = Fields {
        error,
        reason: reason.map(Reason::name),
        ..Fields::new(ended.name(), ended.level(), &call, Some(attempt))
    };
    report_line(plan, &fields);
}

/// Reports that `retry_failed` starts.
pub(crate) fn report_retry(plan: &str, error: &str) {
    let fields = Fields {
        error: Some(&error),
        ..Fields::new("retrying", Level::Warn, &plan, None)
    };
    report_line(plan, &fields);
}

/// Reports the result of a run.
pub(crate) fn report_summary(plan: &str, summary: &Summary) {
    let fields = Fields {
        summary: Some(summary),
        ..Fields::new("summary", Level::Info, &plan, None)
    };
    report_line(plan, &fields);
}
