use crate::chain::key::{Named, Unnamed};

/// Which values a chain takes: all, or those that its key `until` accepts.
#[diagnostic::on_unimplemented(
    message = "`until` of this chain can't judge a `{T}`",
    label = "not a function from `&{T}` to `bool`"
)]
pub trait MayReject<T> {
    fn accepts(&mut self, value: &T) -> bool;
}

impl<T> MayReject<T> for Unnamed {
    #[inline]
    fn accepts(&mut self, _: &T) -> bool {
        true
    }
}

#[diagnostic::do_not_recommend]
impl<T, F: FnMut(&T) -> bool> MayReject<T> for Named<F> {
    #[inline]
    fn accepts(&mut self, value: &T) -> bool {
        (self.0)(value)
    }
}
