//! What a plan logs, beside the rounds of `run_until`, which are logged as the attempts of a call are.

use std::fmt;

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

#[derive(Clone, Copy)]
pub(crate) enum Ended {
    Completed,
    /// Completed after it had failed.
    Healed,
    Failed,
    DeadEnd,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Completed => "completed",
            Self::Healed => "healed",
            Self::Failed => "failed",
            Self::DeadEnd => "dead end",
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
                write!(f, "{ended} {plan}.{subtask} attempt={attempt}")?;
                if let Some(error) = error {
                    write!(f, " error={error}")?;
                }
                if let Some(reason) = reason {
                    write!(f, " reason={reason}")?;
                }
                Ok(())
            }
            Self::Retrying { plan, error } => write!(f, "retrying {plan} error={error}"),
            Self::Summary { plan, summary } => write!(f, "summary {plan}: {summary}"),
        }
    }
}

pub(crate) fn emit(event: &PlanEvent<'_>) {
    #[cfg(feature = "tracing")]
    log(event);
    recording::saw_line(event);
}

/// The fields are those of every record of this crate.
#[cfg(feature = "tracing")]
fn log(event: &PlanEvent<'_>) {
    use tracing::field::{self, Empty};

    macro_rules! subtask {
        ($level:ident, $ended:ident, $plan:ident, $subtask:ident, $attempt:ident, $error:ident, $reason:ident) => {
            tracing::event!(
                target: "retry",
                tracing::Level::$level,
                attempt = $attempt,
                correction = Empty,
                max = Empty,
                delay = Empty,
                error = $error.map(field::display),
                reason = $reason.map(field::display),
                call = format!("{}.{}", $plan, $subtask),
                "{} {}.{}",
                $ended,
                $plan,
                $subtask
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
        } => match ended {
            Ended::Completed => subtask!(DEBUG, ended, plan, subtask, attempt, error, reason),
            Ended::Healed => subtask!(INFO, ended, plan, subtask, attempt, error, reason),
            Ended::Failed | Ended::DeadEnd => {
                subtask!(WARN, ended, plan, subtask, attempt, error, reason);
            }
        },
        PlanEvent::Retrying { plan, error } => tracing::event!(
            target: "retry",
            tracing::Level::WARN,
            attempt = Empty,
            correction = Empty,
            max = Empty,
            delay = Empty,
            error = %error,
            reason = Empty,
            call = plan,
            "retrying {plan}"
        ),
        PlanEvent::Summary { plan, summary } => tracing::event!(
            target: "retry",
            tracing::Level::INFO,
            attempt = Empty,
            correction = Empty,
            max = Empty,
            delay = Empty,
            error = Empty,
            reason = Empty,
            call = plan,
            "summary {plan}: {summary}"
        ),
    }
}
