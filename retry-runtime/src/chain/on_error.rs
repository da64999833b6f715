use core::any::type_name;
use core::fmt;

use crate::classify::Classify;
use crate::classify::verdict::Verdict;

/// Says which errors are worth a retry, and how the log shows them: [`ByClassify`], or a function that
/// [`Policy::on`](crate::Policy::on) was given.
#[diagnostic::on_unimplemented(
    message = "nothing says which errors `{E}` are worth a retry",
    label = "`{E}` is not `Classify`, or `{Self}` does not take it",
    note = "put `#[derive(retry_runtime::Classify)]` on `{E}`, or name a function with `Policy::on`"
)]
pub trait OnError<E> {
    /// Whether the key `show` says how the log shows it, also where errors are shown by their `Display` otherwise.
    #[doc(hidden)]
    const IS_SHOWN: bool = false;

    /// The verdict on a failure.
    fn verdict(&mut self, error: &E) -> Verdict;

    /// How the log shows it. By default, by the name of its type.
    fn describe(&self, error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = error;
        f.write_str(type_name::<E>())
    }
}

#[diagnostic::do_not_recommend]
impl<E, V: Into<Verdict>, F: FnMut(&E) -> V> OnError<E> for F {
    fn verdict(&mut self, error: &E) -> Verdict {
        self(error).into()
    }
}

/// Errors say it themselves, by [`Classify`], and are shown as [`Classify::describe`] says.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByClassify;

#[diagnostic::do_not_recommend]
impl<E: Classify> OnError<E> for ByClassify {
    fn verdict(&mut self, error: &E) -> Verdict {
        error.classify()
    }

    fn describe(&self, error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        error.describe(f)
    }
}

/// An error as `On` has it shown.
pub(crate) struct Described<'a, On, E> {
    pub(crate) on: &'a On,
    pub(crate) error: &'a E,
}

impl<E, On: OnError<E>> fmt::Display for Described<'_, On, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.on.describe(self.error, f)
    }
}
