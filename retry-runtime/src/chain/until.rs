/// The values that a chain takes: all, or those that its key `until` accepts.
#[diagnostic::on_unimplemented(
    message = "`until` of this chain can't judge a `{T}`",
    label = "not a function from `&{T}` to `bool`"
)]
pub trait UntilKey<T> {
    /// Returns true if the chain takes the value.
    fn accepts(&mut self, value: &T) -> bool;
}

impl<T> UntilKey<T> for () {
    #[inline]
    fn accepts(&mut self, _: &T) -> bool {
        true
    }
}

#[diagnostic::do_not_recommend]
impl<T, F: FnMut(&T) -> bool> UntilKey<T> for Option<F> {
    #[inline]
    fn accepts(&mut self, value: &T) -> bool {
        self.as_mut().is_none_or(|until| until(value))
    }
}
