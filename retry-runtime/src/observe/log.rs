//! The log, by `tracing`: target `retry`, a `WARN` per retry, per correction, per call given up or left to its fallback,
//! an `INFO` per call that succeeded after retries or by its fallback; a `WARN` when a breaker opens, an `INFO` when it is half
//! open and when it closes; an `INFO` when a limiter is paused and when it goes on, a `DEBUG` per wait and per other change of
//! a limiter; an `INFO` per attempt that begins beside a slow one, a `WARN` per attempt that fails beside others; a `WARN` when
//! retries multiply. With the target `retry::reason`, a `DEBUG` says where the guide explains a reason.

use tracing::field::display;

use crate::error_text::shown::shown;
use crate::observe::fields::{Delay, Fields, Message};
use crate::observe::levels;
#[cfg(feature = "std")]
use crate::observe::once_per_name::OncePerName;
use crate::observe::record::{Level, Record};

/// Does nothing where the event has no record.
pub(crate) fn log(fields: &Fields<'_>) {
    let Some(record) = fields.record else {
        return;
    };
    let level = levels::of(record, fields.call);
    log_at(level, fields);
    // A program that changed the level knows what it logs.
    #[cfg(feature = "std")]
    if let (Record::GaveUp, Some(reason), true) = (record, fields.reason, level == record.level()) {
        explain(reason);
    }
}

/// All records have the same fields, so that one query fits them. Numbers are numbers, which can be summed, and the
/// delay is in seconds.
pub(crate) fn log_at(level: Level, fields: &Fields<'_>) {
    let max = fields.max.and_then(|max| max.0);
    let delay = fields.delay.map(|delay| Delay::new(delay).seconds());
    let error = fields.error.map(|error| display(shown(error)));
    let reason = fields.reason.map(display);
    macro_rules! record {
        ($level:ident) => {
            tracing::event!(
                target: "retry",
                tracing::Level::$level,
                message = %Message(fields),
                call = %shown(fields.call),
                attempt = fields.attempt,
                correction = fields.correction,
                max,
                delay,
                error,
                reason,
                retry = fields.retry,
                retry_max = fields.retry_max,
                ahead = fields.ahead,
                limit = fields.limit,
                rate = fields.rate,
            )
        };
    }
    match (level, fields.record) {
        (Level::Off, _) => {}
        (Level::Error, _) => record!(ERROR),
        // On a line of their own: subscribers that limit how often one line logs must let through what ends a call.
        (Level::Warn, Some(Record::Retrying)) => record!(WARN),
        (Level::Warn, _) => record!(WARN),
        (Level::Info, _) => record!(INFO),
        (Level::Debug, _) => record!(DEBUG),
        (Level::Trace, _) => record!(TRACE),
    }
}

/// Logs where the guide explains a reason, once in a process for each. The headings there are the reasons.
#[cfg(feature = "std")]
#[cold]
#[inline(never)]
fn explain(reason: &str) {
    const PAGE: &str =
        "https://docs.rs/retry-runtime/latest/retry_runtime/guide/troubleshooting/index.html#";
    static EXPLAINED: OncePerName = OncePerName::new();

    // Asked first, for a level that is turned up later.
    if tracing::enabled!(target: "retry::reason", tracing::Level::DEBUG) && EXPLAINED.is_new(reason)
    {
        let heading = reason.replace(' ', "-");
        tracing::debug!(target: "retry::reason", reason, "what to do about it: {PAGE}{heading}");
    }
}
