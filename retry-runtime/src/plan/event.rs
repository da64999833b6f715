//! What a plan logs, beside the rounds of `run_until`, which are logged as the attempts of a call are.

use core::fmt;

use crate::error_text::shown::shown;
use crate::observe::reason::Reason;
use crate::observe::recording;
use crate::plan::Summary;

/// A line in the log of a plan, or of one of its subtasks.
pub(crate) struct PlanEvent<'a> {
    pub(crate) what: What<'a>,
    pub(crate) plan: &'a str,
    pub(crate) subtask: Option<&'a str>,
    /// How many times the subtask was started.
    pub(crate) attempt: Option<u32>,
    pub(crate) error: Option<&'a dyn fmt::Display>,
    pub(crate) reason: Option<Reason>,
}

#[derive(Clone, Copy)]
pub(crate) enum What<'a> {
    /// Something became of a subtask.
    Subtask(Ended),
    /// `retry_failed` begins.
    Retrying,
    /// A run ends.
    Summary(&'a Summary),
}

impl<'a> PlanEvent<'a> {
    pub(crate) fn new(what: What<'a>, plan: &'a str) -> Self {
        Self {
            what,
            plan,
            subtask: None,
            attempt: None,
            error: None,
            reason: None,
        }
    }

    fn call(&self) -> CallOfSubtask<'a> {
        let (plan, subtask) = (self.plan, self.subtask);
        CallOfSubtask { plan, subtask }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Ended {
    Completed,
    /// Completed after it had failed.
    Healed,
    Failed,
    DeadEnd,
    /// Breaker or limiter did not let it begin.
    NotBegun,
    /// Dropped while it ran.
    GaveUp,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Completed => "completed",
            Self::Healed => "healed",
            Self::Failed => "failed",
            Self::DeadEnd => "dead end",
            Self::NotBegun => "not begun",
            Self::GaveUp => "gave up",
        })
    }
}

impl fmt::Display for What<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subtask(ended) => ended.fmt(f),
            Self::Retrying => f.write_str("retrying"),
            Self::Summary(summary) => write!(f, "summary: {summary}"),
        }
    }
}

impl fmt::Display for PlanEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = shown(self.call());
        if let What::Summary(summary) = self.what {
            return write!(f, "summary {call}: {summary}");
        }
        write!(f, "{} {call}", self.what)?;
        if let Some(attempt) = self.attempt {
            write!(f, " attempt={attempt}")?;
        }
        if let Some(error) = self.error {
            write!(f, " error={}", shown(error))?;
        }
        if let Some(reason) = self.reason {
            write!(f, " reason={reason}")?;
        }
        Ok(())
    }
}

/// What a plan or a subtask is called in the log.
pub(crate) struct CallOfSubtask<'a> {
    pub(crate) plan: &'a str,
    pub(crate) subtask: Option<&'a str>,
}

impl fmt::Display for CallOfSubtask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plan)?;
        self.subtask.map_or(Ok(()), |name| write!(f, ".{name}"))
    }
}

pub(crate) fn emit(event: &PlanEvent<'_>) {
    #[cfg(feature = "tracing")]
    log(event);
    recording::saw_line(event.plan, event);
}

/// The fields are those of every record of this crate.
#[cfg(feature = "tracing")]
fn log(event: &PlanEvent<'_>) {
    use tracing::field::{self, Empty};

    macro_rules! log {
        ($level:ident) => {
            tracing::event!(
                target: "retry",
                tracing::Level::$level,
                call = %shown(event.call()),
                attempt = event.attempt,
                correction = Empty,
                max = Empty,
                delay = Empty,
                error = event.error.map(|error| field::display(shown(error))),
                reason = event.reason.map(field::display),
                "{}",
                event.what
            )
        };
    }

    match event.what {
        What::Subtask(Ended::Completed) => log!(DEBUG),
        What::Subtask(Ended::Healed) | What::Summary(_) => log!(INFO),
        What::Subtask(_) | What::Retrying => log!(WARN),
    }
}
