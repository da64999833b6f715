//! Remembers, for each thread, that a client's error has lost its answer's headers. The client's `Classify` records it,
//! and the call reads it, because only the call has the name for the warning.

use crate::classify::verdict::Verdict;

/// The client that dropped the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(dead_code, reason = "each is made only with its client's feature")]
pub(crate) enum LostBy {
    Reqwest,
    Ureq,
}

// Outside of a call, the verdict itself must not have this mark: users compare verdicts with `Verdict::THROTTLED`.
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
std::thread_local! {
    static LOST: core::cell::Cell<Option<LostBy>> = const { core::cell::Cell::new(None) };
}

/// Classifies an error that keeps only the status of its answer, and records that `client` dropped the headers.
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
pub(crate) fn by_status_alone(status: http::StatusCode, client: LostBy) -> Verdict {
    LOST.set(Some(client));
    crate::classify::Classify::classify(&status)
}

/// Clears the record of earlier classifications, before a call classifies an error.
pub(crate) fn forget() {
    #[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
    LOST.set(None);
}

/// The verdict of a call's classification, marked if a classified error had lost its headers. Clears the record.
pub(crate) fn marked(verdict: Verdict) -> Verdict {
    #[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
    if let Some(client) = LOST.take() {
        return verdict.without_headers(client);
    }
    verdict
}
