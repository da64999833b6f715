use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sources::is;
use crate::verdict::Verdict;

type Ask = dyn Fn(&(dyn Error + 'static)) -> Option<Verdict> + Send + Sync;

static KNOWN: Mutex<Vec<Arc<Ask>>> = Mutex::new(Vec::new());

/// Makes an error type known to the whole program: from then on [`cause`](crate::on::cause), `Box<dyn Error>`, `anyhow::Error`
/// and [`std::io::Error`] ask this function where they find an error of type `E`, also in a `Box` or `Arc`. Call it once,
/// before the calls that need it, as in `main`.
///
/// For types that one error type of a program can't name: errors of crates that this one doesn't know, or your own
/// [`Classify`](crate::Classify) types deep inside an `anyhow::Error`. It also counts for types that this crate knows. Of
/// several functions for one type, the first counts.
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
    let ask = move |cause: &(dyn Error + 'static)| Some(classify(is(cause)?).into());
    locked().push(Arc::new(ask));
}

fn locked() -> MutexGuard<'static, Vec<Arc<Ask>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the program's own functions say of the cause.
pub(crate) fn registered(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    // Copied, since a function may classify what is inside, and so come here again.
    let known = locked().clone();
    known.iter().find_map(|ask| ask(cause))
}
