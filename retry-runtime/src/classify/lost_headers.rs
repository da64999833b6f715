//! Passes "the error has lost its answer's headers" from a client's `Classify` to the call, so that the log can name the
//! call.

use crate::classify::verdict::Verdict;

/// The client that dropped the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(dead_code, reason = "each is made only with its client's feature")]
pub(crate) enum LostBy {
    Reqwest,
    Ureq,
}

// Not in the verdict itself before a call asks for one, because users compare verdicts with `Verdict::THROTTLED`.
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
std::thread_local! {
    static LOST: core::cell::Cell<Option<LostBy>> = const { core::cell::Cell::new(None) };
}

/// The verdict on an answer of which a client's error keeps only the status.
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
pub(crate) fn by_status_alone(status: http::StatusCode, client: LostBy) -> Verdict {
    LOST.set(Some(client));
    crate::classify::Classify::classify(&status)
}

/// Clears what earlier classifications left, before a call asks for a verdict.
pub(crate) fn forget() {
    #[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
    LOST.set(None);
}

/// The verdict that a call asked for, marked if an error that was classified for it had lost its headers.
pub(crate) fn marked(verdict: Verdict) -> Verdict {
    #[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
    if let Some(client) = LOST.take() {
        return verdict.without_headers(client);
    }
    verdict
}
