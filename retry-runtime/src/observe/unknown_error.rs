//! The warning where a call ends with an error of no known type.

use core::fmt::Display;

/// Says so of that call: once for each name.
#[cfg(all(feature = "std", feature = "tracing"))]
pub(crate) fn tell(call: &str, error: &dyn Display) {
    use crate::classify::unknown::WHY;
    use crate::error_text::shown::shown;
    use crate::observe::once_per_name::OncePerName;

    static WARNED: OncePerName = OncePerName::new();

    if WARNED.is_new(call) {
        let error = shown(error);
        // Not the target of calls, whose records all have the same fields.
        tracing::warn!(target: "retry::classify", call, error = %error, "{}", WHY);
    }
}

/// Nobody reads a log, or no name can be remembered.
#[cfg(not(all(feature = "std", feature = "tracing")))]
pub(crate) fn tell(_: &str, _: &dyn Display) {}
