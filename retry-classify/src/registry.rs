use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sources::downcast;
use crate::verdict::Verdict;

type Classifier = dyn Fn(&(dyn Error + 'static)) -> Option<Verdict> + Send + Sync;

static KNOWN: Mutex<Vec<Arc<Classifier>>> = Mutex::new(Vec::new());

/// Registers an error type for the whole program: from then on [`cause`](crate::on::cause), `Box<dyn Error>`,
/// `anyhow::Error` and [`std::io::Error`] call this function when they find an error of type `E`, also in a `Box` or
/// `Arc`. Call it once, before the calls that need it, for example in `main`.
///
/// Use it for types that don't fit in one error type of your program: errors of other crates that aren't supported
/// here, or your own [`Classify`](crate::Classify) types deep inside an `anyhow::Error`. It also overrides this crate's
/// own verdicts. If several functions are registered for one type, the first one wins.
///
/// ```
/// use std::error::Error;
/// use retry_runtime::{Classify, Verdict, on};
///
/// #[derive(Debug, Classify, thiserror::Error)]
/// #[error("the model is busy")]
/// #[classify(transient)]
/// struct Busy;
///
/// on::known(Busy::classify);
/// let error: Box<dyn Error + Send + Sync> = Busy.into();
/// assert_eq!(error.classify(), Verdict::TRANSIENT);
///
/// // A type of another crate.
/// on::known(|_: &std::str::Utf8Error| Verdict::INVALID);
/// ```
pub fn known<E: Error + 'static, V: Into<Verdict>>(
    classify: impl Fn(&E) -> V + Send + Sync + 'static,
) {
    let classifier = move |cause: &(dyn Error + 'static)| Some(classify(downcast(cause)?).into());
    locked().push(Arc::new(classifier));
}

fn locked() -> MutexGuard<'static, Vec<Arc<Classifier>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The verdict of the function that the program registered for the cause's type, if there is one.
pub(crate) fn registered(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    // Cloned to release the lock, because a registered function may classify an inner error and so call this one again.
    let known = locked().clone();
    known.iter().find_map(|classifier| classifier(cause))
}
