//! Errors in which no type was known, on their way to the one who can say which call ended with them.

#[cfg(feature = "std")]
use core::cell::Cell;

use crate::classify::lost_headers;
#[cfg(feature = "std")]
use crate::classify::verdict::Basis;
use crate::classify::verdict::Verdict;

/// What the log says.
#[cfg(feature = "tracing")]
pub(crate) const WHY: &str = "not retried: no type in this error is known to say whether to retry; \
                              name yours, as in `on = on::is::<Busy>`, or make it known by `on::known`";

#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg(feature = "std")]
enum Asked {
    /// No call is.
    Nothing,
    ForACall,
    FoundNothing,
}

// The verdicts that users see can't tell: an unknown error's equals `Verdict::STOP`.
#[cfg(feature = "std")]
std::thread_local! {
    static ASKED: Cell<Asked> = const { Cell::new(Asked::Nothing) };
}

/// What an error says of itself, for a call that names no `on`.
pub fn ask(classify: impl FnOnce() -> Verdict) -> Verdict {
    #[cfg(feature = "std")]
    ASKED.set(Asked::ForACall);
    lost_headers::forget();
    let verdict = lost_headers::marked(classify());
    #[cfg(feature = "std")]
    if ASKED.replace(Asked::Nothing) == Asked::FoundNothing {
        return verdict.based_on(Basis::Unknown);
    }
    verdict
}

/// No type in an error was known. Whether a call asked, which will say so.
pub(crate) fn found_nothing() -> bool {
    #[cfg(feature = "std")]
    let is_for_a_call = ASKED.get() != Asked::Nothing;
    #[cfg(feature = "std")]
    if is_for_a_call {
        ASKED.set(Asked::FoundNothing);
    }
    #[cfg(not(feature = "std"))]
    let is_for_a_call = false;
    is_for_a_call
}
