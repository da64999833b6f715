use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sources::downcast;
use crate::verdict::Verdict;

type Classifier = dyn Fn(&(dyn Error + 'static)) -> Option<Verdict> + Send + Sync;

static KNOWN: Mutex<Vec<Arc<Classifier>>> = Mutex::new(Vec::new());

/// Registers a function that classifies errors of type `E`, for the whole program: from then on,
/// [`cause`](crate::on::cause), `Box<dyn Error>`, `anyhow::Error` and [`std::io::Error`] use it for every `E` they
/// find, even in a `Box` or `Arc`. Register it once, before the calls that need it, for example in `main`.
///
/// Use it for errors that your own error type doesn't contain as variants: errors of crates that this crate doesn't
/// support, or your own [`Classify`](crate::Classify) types deep inside an `anyhow::Error`. The function also overrides
/// this crate's own verdicts. If several functions are registered for one type, the first one wins.
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
    lock().push(Arc::new(classifier));
}

fn lock() -> MutexGuard<'static, Vec<Arc<Classifier>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The verdict of the function registered for the cause's type, if there is one.
pub(crate) fn registered(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    // Cloned to release the lock: a registered function may classify an inner error, which takes the lock again.
    let known = lock().clone();
    known.iter().find_map(|classifier| classifier(cause))
}
