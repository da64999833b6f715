//! The arguments that attempts own, and what a decorator clones into a future or stream that borrows nothing.

use alloc::borrow::ToOwned;
use core::borrow::Borrow;

/// An argument that each attempt owns.
#[diagnostic::on_unimplemented(
    message = "each attempt but the last gets a clone of this argument, and `{Self}` is not `Clone`",
    label = "can't be cloned",
    note = "if the function or the type is yours, take the argument by reference or make `{Self}` `Clone`",
    note = "otherwise put `#[retry]` on a function of yours that makes the argument anew and passes it on; in a trait, mark this method `#[retry(skip)]`"
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

/// A part of an argument that the body moves and sets again.
#[diagnostic::on_unimplemented(
    message = "an attempt can't move `{Self}` out of an argument, even if the body sets it again afterwards",
    label = "moved out by this `for`",
    note = "take it, as in `for part in std::mem::take(&mut argument.parts)`, or name the argument in the key `clone`"
)]
pub trait LeftInPlace {}

#[diagnostic::do_not_recommend]
impl<T: Copy> LeftInPlace for T {}

pub fn left_in_place<T: LeftInPlace>(_: &T) {}

/// What a decorator wraps if a future or stream of its, whose type is `'static`, must own it.
#[diagnostic::on_unimplemented(
    message = "a decorator clones its client into a future or stream that is `'static`, and `{Self}` is not `Clone`",
    label = "can't be cloned",
    note = "wrap it in an `Arc`, if the trait is implemented for that, or make it `Clone`",
    note = "otherwise mark the method that returns it `#[retry(skip)]`"
)]
pub trait ClonedClient: Clone + 'static {}

#[diagnostic::do_not_recommend]
impl<C: Clone + 'static> ClonedClient for C {}

/// A borrowed argument that such a future or stream keeps a clone of. The compiler complains once of a bound here, and
/// twice of `ToOwned`.
pub trait KeptArgument {
    type Kept;
    fn keep(&self) -> Self::Kept;
    fn lend(kept: &Self::Kept) -> &Self;
}

impl<T: ToOwned + ?Sized> KeptArgument for T {
    type Kept = T::Owned;

    fn keep(&self) -> T::Owned {
        self.to_owned()
    }

    fn lend(kept: &T::Owned) -> &T {
        kept.borrow()
    }
}

pub fn keep<T: KeptArgument + ?Sized>(argument: &T) -> T::Kept {
    argument.keep()
}

pub fn keep_optional<T: KeptArgument + ?Sized>(argument: Option<&T>) -> Option<T::Kept> {
    argument.map(T::keep)
}

pub fn lend_optional<T: KeptArgument + ?Sized>(kept: &Option<T::Kept>) -> Option<&T> {
    kept.as_ref().map(T::lend)
}
