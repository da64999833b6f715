//! Errors as text, and whether two are the same, without a bound on the user's type.
//!
//! A method call takes the first candidate whose bounds hold, and dereferences or borrows to find the next. Method
//! names are long so that no trait of the user's has them.

#![expect(missing_docs, reason = "reached by expansions of the macros only")]

use std::any::type_name;
use std::fmt;
use std::ops::Deref;

/// The error as text: by its type's `Display`, else by its `Debug`, else the type's name.
pub fn show<E>(error: &E) -> Show<'_, E> {
    Show(ShowDebug(ShowName(error)))
}

pub struct Show<'a, E>(ShowDebug<'a, E>);

pub struct ShowDebug<'a, E>(ShowName<'a, E>);

pub struct ShowName<'a, E>(&'a E);

impl<E: fmt::Display> Show<'_, E> {
    pub fn __retry_show(&self) -> &dyn fmt::Display {
        self.0.0.0
    }
}

impl<E: fmt::Debug> ShowDebug<'_, E> {
    pub fn __retry_show(&self) -> &dyn fmt::Display {
        self
    }
}

impl<E> ShowName<'_, E> {
    pub fn __retry_show(&self) -> &dyn fmt::Display {
        self
    }
}

impl<'a, E> Deref for Show<'a, E> {
    type Target = ShowDebug<'a, E>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, E> Deref for ShowDebug<'a, E> {
    type Target = ShowName<'a, E>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<E: fmt::Debug> fmt::Display for ShowDebug<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0.fmt(f)
    }
}

impl<E> fmt::Display for ShowName<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(type_name::<E>())
    }
}

/// Compares by `PartialEq` if the type has it, else by the text of `Display`, else by the text of `Debug`.
pub struct Same<'a, E>(pub &'a E);

pub trait SameValue<E> {
    fn __retry_same(&self, other: &E) -> bool;
}

impl<E: PartialEq> SameValue<E> for &&Same<'_, E> {
    fn __retry_same(&self, other: &E) -> bool {
        self.0 == other
    }
}

pub trait SameDisplay<E> {
    fn __retry_same(&self, other: &E) -> bool;
}

impl<E: fmt::Display> SameDisplay<E> for &Same<'_, E> {
    fn __retry_same(&self, other: &E) -> bool {
        self.0.to_string() == other.to_string()
    }
}

pub trait SameDebug<E> {
    // The bound is on the method, so that an error about it names the user's type.
    fn __retry_same(&self, other: &E) -> bool
    where
        E: Comparable;
}

impl<E> SameDebug<E> for Same<'_, E> {
    fn __retry_same(&self, other: &E) -> bool
    where
        E: Comparable,
    {
        self.0.text() == other.text()
    }
}

#[diagnostic::on_unimplemented(
    message = "the key `repeats` can't tell whether two values of `{Self}` are the same",
    label = "has none of `PartialEq`, `Display`, `Debug`",
    note = "give `{Self}` one of `PartialEq`, `Display` and `Debug`, or remove `repeats`"
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
