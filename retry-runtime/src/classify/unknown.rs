//! Errors in which no type was known, on their way to the one who can say which call ended with them.

#[cfg(all(feature = "std", feature = "tracing"))]
use core::cell::Cell;

use crate::classify::Classify;
use crate::classify::verdict::Verdict;

/// What the log says.
#[cfg(feature = "tracing")]
pub(crate) const WHY: &str = "not retried: no type in this error is known to say whether to retry; \
                              name yours, as in `on = on::is::<Busy>`, or make it known by `on::known`";

#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg(all(feature = "std", feature = "tracing"))]
enum Asked {
    /// No call is.
    Nothing,
    ForACall,
    FoundNothing,
}

// Between asking an error and deciding what follows, a call stays on its thread.
#[cfg(all(feature = "std", feature = "tracing"))]
std::thread_local! {
    static ASKED: Cell<Asked> = const { Cell::new(Asked::Nothing) };
}

/// What an error says of itself, for a call that names no `on`.
pub(crate) fn ask<E: Classify>(error: &E) -> Verdict {
    #[cfg(all(feature = "std", feature = "tracing"))]
    ASKED.set(Asked::ForACall);
    error.classify()
}

/// No type in an error was known. Whether a call asked, which will say so.
#[cfg(feature = "tracing")]
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

/// Whether the call that now decides what follows asked an error in which nothing was known.
pub(crate) fn was_asked() -> bool {
    #[cfg(all(feature = "std", feature = "tracing"))]
    return ASKED.replace(Asked::Nothing) == Asked::FoundNothing;
    #[cfg(not(all(feature = "std", feature = "tracing")))]
    false
}
