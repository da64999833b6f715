//! What a plan logs, beside the rounds of `run_until`, which are logged as the attempts of a call are.

use core::fmt;

use crate::error_text::shown::shown;
use crate::observe::reason::Reason;
use crate::observe::recording;
use crate::plan::Summary;

pub(crate) enum PlanEvent<'a> {
    /// Something became of a subtask.
    Subtask {
        ended: Ended,
        plan: &'a str,
        subtask: &'a str,
        /// How many times it was started.
        attempt: u32,
        error: Option<&'a dyn fmt::Display>,
        reason: Option<Reason>,
    },
    /// `retry_failed` begins.
    Retrying {
        plan: &'a str,
        error: &'a dyn fmt::Display,
    },
    /// A run ends.
    Summary { plan: &'a str, summary: &'a Summary },
}

impl<'a> PlanEvent<'a> {
    fn plan(&self) -> &'a str {
        match *self {
            Self::Subtask { plan, .. }
            | Self::Retrying { plan, .. }
            | Self::Summary { plan, .. } => plan,
        }
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

impl fmt::Display for PlanEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Subtask {
                ended,
                plan,
                subtask,
                attempt,
                error,
                reason,
            } => {
                let call = CallOfSubtask { plan, subtask };
                write!(f, "{ended} {} attempt={attempt}", shown(call))?;
                if let Some(error) = error {
                    write!(f, " error={}", shown(error))?;
                }
                if let Some(reason) = reason {
                    write!(f, " reason={reason}")?;
                }
                Ok(())
            }
            Self::Retrying { plan, error } => {
                write!(f, "retrying {} error={}", shown(plan), shown(error))
            }
            Self::Summary { plan, summary } => write!(f, "summary {}: {summary}", shown(plan)),
        }
    }
}

/// What a subtask is called in the log.
pub(crate) struct CallOfSubtask<'a> {
    pub(crate) plan: &'a str,
    pub(crate) subtask: &'a str,
}

impl fmt::Display for CallOfSubtask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.plan, self.subtask)
    }
}

pub(crate) fn emit(event: &PlanEvent<'_>) {
    #[cfg(feature = "tracing")]
    log(event);
    recording::saw_line(event.plan(), event);
}

/// The fields are those of every record of this crate.
#[cfg(feature = "tracing")]
fn log(event: &PlanEvent<'_>) {
    use tracing::field::{self, Empty};

    macro_rules! subtask {
        ($level:ident, $ended:ident, $call:ident, $attempt:ident, $error:ident, $reason:ident) => {
            tracing::event!(
                target: "retry",
                tracing::Level::$level,
                call = field::display(shown($call)),
                attempt = $attempt,
                correction = Empty,
                max = Empty,
                delay = Empty,
                error = $error.map(|error| field::display(shown(error))),
                reason = $reason.map(field::display),
                "{}",
                $ended
            )
        };
    }

    match *event {
        PlanEvent::Subtask {
            ended,
            plan,
            subtask,
            attempt,
            error,
            reason,
        } => {
            let call = &CallOfSubtask { plan, subtask };
            match ended {
                Ended::Completed => subtask!(DEBUG, ended, call, attempt, error, reason),
                Ended::Healed => subtask!(INFO, ended, call, attempt, error, reason),
                Ended::Failed | Ended::DeadEnd | Ended::NotBegun | Ended::GaveUp => {
                    subtask!(WARN, ended, call, attempt, error, reason);
                }
            }
        }
        PlanEvent::Retrying { plan, error } => tracing::event!(
            target: "retry",
            tracing::Level::WARN,
            call = %shown(plan),
            attempt = Empty,
            correction = Empty,
            max = Empty,
            delay = Empty,
            error = %shown(error),
            reason = Empty,
            "retrying"
        ),
        PlanEvent::Summary { plan, summary } => tracing::event!(
            target: "retry",
            tracing::Level::INFO,
            call = %shown(plan),
            attempt = Empty,
            correction = Empty,
            max = Empty,
            delay = Empty,
            error = Empty,
            reason = Empty,
            "summary: {summary}"
        ),
    }
}
