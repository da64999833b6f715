//! Warnings about verdicts that lack information: the error's type is unknown, or the error has lost the headers.

use core::fmt::Display;

use crate::classify::verdict::Verdict;

/// Logs the warning for the verdict, if there is one, once per name.
#[cfg(all(feature = "std", feature = "tracing"))]
pub(crate) fn tell(call: &str, verdict: Verdict, error: &dyn Display) {
    use crate::classify::lost_headers::LostBy;
    use crate::classify::verdict::Basis;
    use crate::error_text::shown::shown;
    use crate::observe::once_per_name::OncePerName;

    const OF_NO_TYPE: &str = "not retried: no type in this error is known to say whether to retry; \
                              name yours, as in `on = on::is::<Busy>`, or make it known by `on::known`";
    const OF_REQWEST: &str = "throttled, and any Retry-After is lost with the headers: use \
                              `.error_for_retry().await` of `retry_runtime::ErrorForRetry` \
                              instead of `.error_for_status()`";
    const OF_UREQ: &str = "throttled, and any Retry-After is lost with the headers: set \
                           `http_status_as_error(false)` and return a `ResponseError`";
    static UNKNOWN: OncePerName = OncePerName::new();
    static WITHOUT_HEADERS: OncePerName = OncePerName::new();

    let (warned, why) = match verdict.basis() {
        Basis::Unknown => (&UNKNOWN, OF_NO_TYPE),
        Basis::LostHeaders(LostBy::Reqwest) => (&WITHOUT_HEADERS, OF_REQWEST),
        Basis::LostHeaders(LostBy::Ureq) => (&WITHOUT_HEADERS, OF_UREQ),
        Basis::Answer | Basis::Failed(_) | Basis::Nothing => return,
    };
    if warned.is_new(call) {
        let error = shown(error);
        // Not the target of calls, because their records all have the same fields.
        tracing::warn!(target: "retry::classify", call = %call, error = %error, "{}", why);
    }
}

/// Does nothing: without `tracing` there is no log, and without `std` the names can't be stored.
#[cfg(not(all(feature = "std", feature = "tracing")))]
pub(crate) fn tell(_: &str, _: Verdict, _: &dyn Display) {}
