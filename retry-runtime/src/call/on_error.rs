use crate::classify::Classify;
use crate::classify::verdict::Verdict;

/// Says which errors are worth a retry: [`ByClassify`], or a function that [`Policy::on`](crate::Policy::on) was given.
#[diagnostic::on_unimplemented(
    message = "nothing says which errors `{E}` are worth a retry",
    label = "`{E}` is not `Classify`, or `{Self}` does not take it",
    note = "put `#[derive(retry_runtime::Classify)]` on `{E}`, or name a function with `Policy::on`"
)]
pub trait OnError<E> {
    /// The verdict on a failure.
    fn verdict(&mut self, error: &E) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<E, V: Into<Verdict>, F: FnMut(&E) -> V> OnError<E> for F {
    fn verdict(&mut self, error: &E) -> Verdict {
        self(error).into()
    }
}

/// Errors say it themselves, by [`Classify`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ByClassify;

#[diagnostic::do_not_recommend]
impl<E: Classify> OnError<E> for ByClassify {
    fn verdict(&mut self, error: &E) -> Verdict {
        error.classify()
    }
}
