//! Helpers for the errors of several clients.

use std::error::Error;
use std::iter;

#[cfg(any(feature = "azure_core", feature = "object_store", feature = "rig"))]
use retry_runtime::Classify;
use retry_runtime::Verdict;

/// The verdict for a broken connection: the request may have taken effect.
pub(crate) const BROKEN: Verdict = Verdict::TRANSIENT.ambiguous();

/// Returns the first error of type `E` among an error and its causes.
pub(crate) fn cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    iter::successors(Some(error), |&error| error.source())
        .find_map(|cause| cause.downcast_ref::<E>())
}

/// Classifies the `reqwest` error among the causes, for clients that hide their transport. Recognizes untrusted
/// certificates.
#[cfg(any(feature = "azure_core", feature = "object_store", feature = "rig"))]
pub(crate) fn by_reqwest(error: &(dyn Error + 'static)) -> Option<Verdict> {
    cause::<reqwest::Error>(error).map(Classify::classify)
}
