use std::error::Error;
use std::iter;

use retry_runtime::{Classify, Verdict};

/// The verdict of `reqwest`'s error among the causes, where a client hides its transport. It knows of certificates.
pub(crate) fn by_reqwest(error: &(dyn Error + 'static)) -> Option<Verdict> {
    iter::successors(Some(error), |&error| error.source())
        .find_map(|cause| cause.downcast_ref::<reqwest::Error>())
        .map(Classify::classify)
}
