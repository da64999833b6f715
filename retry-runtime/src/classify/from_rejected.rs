use crate::classify::rejected::Rejected;

/// An error type that [`Rejected`] converts to. Implemented through `From<Rejected>`, never by hand.
#[diagnostic::on_unimplemented(
    message = "the keys `breaker` and `limiter` need an error type that a rejection converts to, and `{Self}` is not one",
    label = "this error type has no `From<Rejected>`",
    note = "write `impl From<retry_runtime::Rejected> for {Self}`, or remove the key"
)]
pub trait FromRejected {
    /// The conversion.
    fn from_rejected(rejected: Rejected) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<Rejected>> FromRejected for E {
    fn from_rejected(rejected: Rejected) -> Self {
        rejected.into()
    }
}
