//! Warnings about verdicts based on too little: on an error of no known type, or on one without its answer's headers.

use core::fmt::Display;

use crate::classify::verdict::Verdict;

#[cfg(all(feature = "std", feature = "tracing"))]
const OF_REQWEST: &str = "throttled, and any `Retry-After` is lost with the headers: use \
                          `error_for_retry()` instead of `error_for_status()`";
#[cfg(all(feature = "std", feature = "tracing"))]
const OF_UREQ: &str = "throttled, and any `Retry-After` is lost with the headers: set \
                       `http_status_as_error(false)` and return a `ResponseError`";

/// Warns about that call: once for each name.
#[cfg(all(feature = "std", feature = "tracing"))]
pub(crate) fn tell(call: &str, verdict: Verdict, error: &dyn Display) {
    use crate::classify::lost_headers::LostBy;
    use crate::classify::unknown::WHY;
    use crate::classify::verdict::Basis;
    use crate::error_text::shown::shown;
    use crate::observe::once_per_name::OncePerName;

    static UNKNOWN: OncePerName = OncePerName::new();
    static WITHOUT_HEADERS: OncePerName = OncePerName::new();

    let (warned, why) = match verdict.basis() {
        Basis::Unknown => (&UNKNOWN, WHY),
        Basis::LostHeaders(LostBy::Reqwest) => (&WITHOUT_HEADERS, OF_REQWEST),
        Basis::LostHeaders(LostBy::Ureq) => (&WITHOUT_HEADERS, OF_UREQ),
        Basis::Answer | Basis::Failed(_) | Basis::Nothing => return,
    };
    if warned.is_new(call) {
        let error = shown(error);
        // Not the target of calls, whose records all have the same fields.
        tracing::warn!(target: "retry::classify", call, error = %error, "{}", why);
    }
}

/// Nobody reads a log, or no name can be remembered.
#[cfg(not(all(feature = "std", feature = "tracing")))]
pub(crate) fn tell(_: &str, _: Verdict, _: &dyn Display) {}
