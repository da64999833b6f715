use crate::classify::verdict::Verdict;

/// What the function of the key `on` returns. Implemented through `Into<Verdict>`, never by hand.
#[diagnostic::on_unimplemented(
    message = "the function of `on` returns `{Self}`, which is not a verdict",
    label = "returns `{Self}`",
    note = "return `bool`, `Option<Duration>` (`Some` retries after that time), `Kind` or `Verdict`"
)]
pub trait IntoVerdict {
    /// Converts a value that [`answer`](crate::macro_support::answer) returned.
    fn into_verdict(self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<V: Into<Verdict>> IntoVerdict for V {
    fn into_verdict(self) -> Verdict {
        self.into()
    }
}
