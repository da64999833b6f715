//! Errors of clients that keep only the status of a response.

use http::StatusCode;

use crate::Classify;
use crate::verdict::{LostBy, Verdict};

/// Classifies such an error, and records that `client` dropped the headers.
pub(crate) fn by_status_alone(status: StatusCode, client: LostBy) -> Verdict {
    status.classify().without_headers(client)
}
