//! The log, through `tracing`, with the target `retry`. `WARN`: each retry, correction, fallback, call that gave up,
//! attempt that fails while others continue, breaker that opens, and pair of functions whose retries multiply. `INFO`:
//! each call that succeeded after retries or by its fallback, hedged attempt, breaker that turns half open or closes,
//! and limiter that is paused or resumed. `DEBUG`: each wait and other change of a limiter, and, with the target
//! `retry::reason`, the guide's address for a reason.

use retry_classify::macro_support::shown;
use tracing::field::display;

use crate::observe::fields::{Delay, Message};
use crate::observe::{Fields, Level, Record, levels};

#[cfg(feature = "std")]
use crate::observe::warnings::OncePerName;

/// All records have the same fields, so that one query matches them all. Numeric fields are numbers, which can be
/// summed; the delay is in seconds.
pub(crate) fn log(fields: &Fields<'_>) {
    let level = levels::level_of(fields);
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
                correction = fields.correction.or(fields.corrections),
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
        // `Retrying` has its own callsite, so that subscribers that limit the rate of each callsite don't drop the
        // records of calls that ended.
        (Level::Warn, Some(Record::Retrying)) => record!(WARN),
        (Level::Warn, _) => record!(WARN),
        (Level::Info, _) => record!(INFO),
        (Level::Debug, _) => record!(DEBUG),
        (Level::Trace, _) => record!(TRACE),
    }
    // A record whose level the program changed needs no explanation.
    #[cfg(feature = "std")]
    if let (Some(Record::GaveUp), Some(reason), true) =
        (fields.record, fields.reason, level == fields.level)
    {
        explain(reason);
    }
}

/// Logs the address of the guide's section about a reason, once per process and reason. The section's heading is the
/// reason.
#[cfg(feature = "std")]
#[cold]
#[inline(never)]
fn explain(reason: &str) {
    const PAGE: &str =
        "https://docs.rs/retry-runtime/latest/retry_runtime/guide/troubleshooting/index.html#";
    static EXPLAINED: OncePerName = OncePerName::new();

    // Check the level before `is_new`, so that the address is still logged if the program enables the level later.
    if tracing::enabled!(target: "retry::reason", tracing::Level::DEBUG) && EXPLAINED.is_new(reason)
    {
        let heading = reason.replace(' ', "-");
        tracing::debug!(target: "retry::reason", reason, "what to do about it: {PAGE}{heading}");
    }
}
