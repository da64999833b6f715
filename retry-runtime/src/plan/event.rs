//! A plan's log records, apart from the rounds of `run_until`, which are logged like the attempts of a call.

use core::fmt;

use crate::listed::listed;
use crate::observe::Reason;
use crate::observe::fields::Fields;
use crate::observe::record::Level;
use crate::observe::report::report_line;
use crate::plan::Summary;

#[derive(Clone, Copy)]
pub(crate) enum Ended {
    Completed,
    /// Completed after a failure.
    Healed,
    Failed,
    DeadEnd,
    /// Rejected by the breaker or the limiter.
    NotBegun,
    /// Dropped during its execution.
    GaveUp,
}

listed!(Ended:
    Completed = "completed", Healed = "healed", Failed = "failed", DeadEnd = "dead end",
    NotBegun = "not begun", GaveUp = "gave up"
);

/// Reports the status of a subtask after the given number of executions.
pub(crate) fn report_subtask(
    ended: Ended,
    plan: &str,
    subtask: &str,
    attempt: u32,
    error: Option<&dyn fmt::Display>,
    reason: Option<Reason>,
) {
    let call = format!("{plan}.{subtask}");
    let level = match ended {
        Ended::Completed => Level::Debug,
        Ended::Healed => Level::Info,
        Ended::Failed | Ended::DeadEnd | Ended::NotBegun | Ended::GaveUp => Level::Warn,
    };
    let fields = Fields {
        error,
        reason: reason.map(Reason::name),
        ..Fields::new(ended.name(), level, &call, Some(attempt))
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
