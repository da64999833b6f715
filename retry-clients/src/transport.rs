//! The errors of `reqwest`, inside those of clients that hide them.

use std::error::Error;
use std::iter;

use retry_runtime::{Classify, Verdict};

/// The verdict of `reqwest`'s error among the causes.
pub(crate) fn failed(error: &(dyn Error + 'static)) -> Option<Verdict> {
    iter::successors(Some(error), |&error| error.source())
        .find_map(|cause| cause.downcast_ref::<reqwest::Error>())
        .map(Classify::classify)
}
