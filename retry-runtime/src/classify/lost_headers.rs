//! Errors of clients that keep only the status of an answer.

/// The client that dropped the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(dead_code, reason = "each is made only with its client's feature")]
pub(crate) enum LostBy {
    Reqwest,
    Ureq,
}

/// Classifies an error that keeps only the status of its answer, and marks that `client` dropped the headers.
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
pub(crate) fn by_status_alone(
    status: http::StatusCode,
    client: LostBy,
) -> crate::classify::verdict::Verdict {
    crate::classify::Classify::classify(&status).without_headers(client)
}
