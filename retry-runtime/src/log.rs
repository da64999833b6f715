//! The log, by `tracing`: target `retry`, a `WARN` per retry, per correction and per call given up, an `INFO` per call that
//! succeeded after retries.

use tracing::field::Empty;

use crate::event::{Delay, Max};
use crate::{Event, Kind};

/// Every record has the same fields, so that a query need not know which record it meets. Values are copied in blocks:
/// what is never borrowed stays in registers where nobody listens.
macro_rules! record {
    ($level:ident, $message:literal, $call:ident, $attempt:ident, $correction:expr, $max:ident, $delay:expr, $error:expr, $reason:expr) => {
        tracing::event!(
            target: "retry",
            tracing::Level::$level,
            attempt = { $attempt },
            correction = { $correction },
            max = %Max($max),
            delay = $delay,
            error = $error,
            reason = $reason,
            call = { $call },
            concat!($message, " {}"),
            { $call }
        )
    };
}

#[cfg_attr(
    not(debug_assertions),
    expect(clippy::inline_always, reason = "as where events are told of"),
    inline(always)
)]
pub(crate) fn log(event: Event<'_>) {
    match event {
        Event::Started { .. } => {}
        Event::Retrying {
            call,
            attempt,
            max,
            delay,
            error,
            kind,
        } => {
            record!(
                WARN,
                "retrying",
                call,
                attempt,
                Empty,
                max,
                display(Delay(delay)),
                display(error),
                display(kind)
            );
        }
        Event::Correcting {
            call,
            attempt,
            correction,
            max,
            delay,
            error,
        } => {
            record!(
                WARN,
                "correcting",
                call,
                attempt,
                correction,
                max,
                display(Delay(delay)),
                display(error),
                display(Kind::Invalid)
            );
        }
        Event::GaveUp {
            call,
            attempt,
            max,
            error,
            reason,
        } => {
            record!(
                WARN,
                "gave up",
                call,
                attempt,
                Empty,
                max,
                Empty,
                display(error),
                display(reason)
            );
        }
        Event::Succeeded {
            call,
            attempt,
            corrections,
            max,
        } => {
            let correction = (corrections > 0).then_some(corrections);
            record!(
                INFO,
                "succeeded",
                call,
                attempt,
                correction,
                max,
                Empty,
                Empty,
                Empty
            );
        }
    }
}
