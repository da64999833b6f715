//! Compares two errors without a bound on the user's type.
//!
//! Uses autoderef specialization: method lookup dereferences or borrows until it finds a candidate whose bounds hold.
//! The method names are long so that they don't collide with a user's trait.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::macro_support::else_by;

else_by!(
    Same, SameDisplay;
    SameDisplay, SameDebug;
);

/// Compares by `PartialEq` if the type implements it, otherwise by the `Display` text, or else by the `Debug` text.
pub fn same<E>(error: &E) -> Same<'_, E> {
    Same(SameDisplay(SameDebug(error)))
}

pub struct SameDebug<'a, E>(&'a E);

impl<E: PartialEq> Same<'_, E> {
    pub fn __retry_same(&self, other: &E) -> bool {
        self.0.0.0 == other
    }
}

impl<E: fmt::Display> SameDisplay<'_, E> {
    pub fn __retry_same(&self, other: &E) -> bool {
        self.0.0.to_string() == other.to_string()
    }
}

impl<E> SameDebug<'_, E> {
    // The bound is on the method, so that a compile error about the bound names the user's type.
    pub fn __retry_same(&self, other: &E) -> bool
    where
        E: Comparable,
    {
        self.0.text() == other.text()
    }
}

#[diagnostic::on_unimplemented(
    message = "`repeats` can't compare two values of `{Self}`",
    label = "implements none of `PartialEq`, `Display` and `Debug`",
    note = "implement one of them for `{Self}`, or remove `repeats`"
)]
pub trait Comparable {
    fn text(&self) -> String;
}

#[diagnostic::do_not_recommend]
impl<E: fmt::Debug> Comparable for E {
    fn text(&self) -> String {
        format!("{self:?}")
    }
}
