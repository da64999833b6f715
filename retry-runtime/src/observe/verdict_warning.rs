//! Warnings about verdicts that lack information: the error's type is unknown, or the error has lost the headers.

use core::fmt::Display;

use crate::classify::verdict::Verdict;

/// Logs the warning for the verdict, if there is one, once per name.
#[cfg(all(feature = "std", feature = "tracing"))]
pub(crate) fn tell(call: &str, verdict: Verdict, error: &dyn Display) {
    use crate::classify::verdict::Basis;
    use crate::error_text::shown::shown;
    use crate::observe::once_per_name::OncePerName;

    const OF_NO_TYPE: &str = "not retried: no type in this error is known to say whether to retry; \
                              name yours, as in `on = on::is::<Busy>`, or make it known by `on::known`";
    const WITHOUT_HEADERS: &str = "throttled, and any Retry-After is lost with the headers: ";
    static UNKNOWN: OncePerName = OncePerName::new();
    static LOST: OncePerName = OncePerName::new();

    let (warned, why, advice) = match verdict.basis() {
        Basis::Unknown => (&UNKNOWN, OF_NO_TYPE, ""),
        Basis::LostHeaders(advice) => (&LOST, WITHOUT_HEADERS, advice),
        Basis::Answer | Basis::Failed(_) | Basis::Nothing => return,
    };
    if warned.is_new(call) {
        let error = shown(error);
        // Not the target of calls, because their records all have the same fields.
        tracing::warn!(target: "retry::classify", call = %call, error = %error, "{why}{advice}");
    }
}

/// Does nothing: without `tracing` there is no log, and without `std` the names can't be stored.
#[cfg(not(all(feature = "std", feature = "tracing")))]
pub(crate) fn tell(_: &str, _: Verdict, _: &dyn Display) {}
