//! Log records that are not events: warnings, once per call name, and operators' changes.

use core::fmt::Display;

use retry_classify::Verdict;

use crate::observe::{Fields, Level, report_line};

#[cfg(feature = "std")]
use crate::sync::{Mutex, lock};

/// The names for which a record was already logged. Their number is limited, so that names created for each call don't
/// fill the memory.
#[cfg(feature = "std")]
pub(crate) struct OncePerName(Mutex<Vec<String>>);

#[cfg(feature = "std")]
impl OncePerName {
    const MAX_NAMES: usize = 1000;

    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns true the first time it is called with this name, unless too many names are stored already.
    pub(crate) fn is_new(&self, call: &str) -> bool {
        let mut named = lock(&self.0);
        let is_new = named.len() < Self::MAX_NAMES && !named.iter().any(|name| name == call);
        if is_new {
            named.push(call.to_owned());
        }
        is_new
    }
}

/// Warns that the call's attempts have no time limit, although the policy has a `timeout`: once per name or, without
/// `std`, at every call.
#[cold]
#[inline(never)]
pub fn ignores_timeout(call: &str) {
    #[cfg(feature = "std")]
    {
        static WARNED: OncePerName = OncePerName::new();

        if !WARNED.is_new(call) {
            return;
        }
    }
    let fields = Fields {
        reason: Some("the call doesn't set `timeout`, or can't have one"),
        ..Fields::new("ignoring the policy's timeout", Level::Warn, &call, None)
    };
    report_line(call, &fields);
}

/// Warns, once per name, about a verdict that lacks information: the error's type is unknown, or the error has lost the
/// headers.
#[cfg(all(feature = "std", feature = "tracing"))]
pub fn warn_about_verdict(call: &str, verdict: Verdict, error: &dyn Display) {
    use retry_classify::macro_support::{Basis, shown};

    const UNKNOWN_TYPE: &str = "not retried: no known type in this error decides whether to retry; \
                              name yours, as in `on = on::is::<Busy>`, or register it with `on::known`";
    const LOST_HEADERS: &str = "throttled, and any Retry-After is lost with the headers: ";
    static UNKNOWN: OncePerName = OncePerName::new();
    static LOST: OncePerName = OncePerName::new();

    let (warned, why, advice) = match verdict.basis() {
        Basis::Unknown => (&UNKNOWN, UNKNOWN_TYPE, ""),
        Basis::LostHeaders(client) => (&LOST, LOST_HEADERS, client.advice()),
        Basis::Answer | Basis::Failed(_) | Basis::Nothing => return,
    };
    if warned.is_new(call) {
        let error = shown(error);
        // The target is not `retry`, because all records with that target have the same fields.
        tracing::warn!(target: "retry::classify", call = %call, error = %error, "{why}{advice}");
    }
}

/// Does nothing: without `tracing` there is no log, and without `std` the names can't be stored.
#[cfg(not(all(feature = "std", feature = "tracing")))]
pub fn warn_about_verdict(_: &str, _: Verdict, _: &dyn Display) {}

/// Logs that an operator changed a shared protection. The target is not `retry`, because the change is not part of a
/// call.
#[cfg(feature = "std")]
pub fn log_change(what: &str, to: &dyn Display) {
    #[cfg(feature = "tracing")]
    tracing::info!(target: "retry::protections", "{what}: {to}");
    #[cfg(not(feature = "tracing"))]
    let _ = (what, to);
}
