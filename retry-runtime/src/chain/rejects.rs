use crate::call::stop::Stop;
use crate::chain::key::Key;
use crate::classify::conversions::FromRejected;

/// The end, with an error of type `E`, of a call whose first attempt may not begin.
#[diagnostic::on_unimplemented(
    message = "`breaker` and `limiter` need an error type that a rejection converts to, and `{E}` is not one",
    label = "`{E}` has no `From<Rejected>`",
    note = "write `impl From<retry_runtime::Rejected> for {E}`, or remove the key"
)]
pub trait Rejects<E>: Key {
    /// The error, if the chain has a key that rejects calls.
    fn rejected(stop: &Stop) -> Option<E>;
}

#[diagnostic::do_not_recommend]
impl<E> Rejects<E> for () {
    #[inline]
    fn rejected(_: &Stop) -> Option<E> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<V, E: FromRejected> Rejects<E> for Option<V> {
    fn rejected(stop: &Stop) -> Option<E> {
        Some(E::from_rejected(stop.rejected()))
    }
}
