//! What the errors of several clients have in common.

use std::error::Error;
use std::iter;

#[cfg(any(feature = "azure_core", feature = "object_store", feature = "rig"))]
use retry_runtime::Classify;
use retry_runtime::Verdict;

/// A connection broke, and nobody knows what had been done by then.
pub(crate) const BROKEN: Verdict = Verdict::TRANSIENT.ambiguous();

/// The first error of that type among an error and its causes.
pub(crate) fn cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    iter::successors(Some(error), |&error| error.source())
        .find_map(|cause| cause.downcast_ref::<E>())
}

/// The verdict of `reqwest`'s error among the causes, where a client hides its transport. It knows
/// of certificates.
#[cfg(any(feature = "azure_core", feature = "object_store", feature = "rig"))]
pub(crate) fn by_reqwest(error: &(dyn Error + 'static)) -> Option<Verdict> {
    cause::<reqwest::Error>(error).map(Classify::classify)
}
