//! The arguments that a decorator passes on by value.

/// An argument that a decorator passes on by value.
#[diagnostic::on_unimplemented(
    message = "a decorator clones an argument for every attempt but the last, and `{Self}` is not `Clone`",
    label = "can't be cloned",
    note = "if the trait or the type is yours, take the argument by reference or make `{Self}` `Clone`",
    note = "otherwise mark the method `#[retry(skip)]`, and put `#[retry]` on a function of yours that makes the argument anew and calls it"
)]
pub trait CloneArgument {
    fn clone_argument(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> CloneArgument for T {
    fn clone_argument(&self) -> Self {
        self.clone()
    }
}

/// A clone of the argument, or for the last attempt the argument itself.
pub fn take_argument<T: CloneArgument>(slot: &mut Option<T>, is_last: bool) -> T {
    let argument = if is_last {
        slot.take()
    } else {
        slot.as_ref().map(T::clone_argument)
    };
    argument.expect("only the last attempt takes an argument")
}
