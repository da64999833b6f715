//! Errors as text, and whether two are the same, without a bound on the user's type.
//!
//! A method call prefers an inherent method to one of a trait, and a candidate that dereferences less to one that
//! dereferences more. So a call on `&Show(&error)` finds the method for `Display` first, then that of the trait for
//! `Debug`, then that for any type. Method names are long so that no trait of the user's has them.

#![expect(missing_docs, reason = "reached by expansions of the macros only")]

use std::any::type_name;
use std::fmt;

pub struct Show<'a, E>(pub &'a E);

impl<'a, E: fmt::Display> Show<'a, E> {
    pub fn __retry_show(&self) -> &'a dyn fmt::Display {
        self.0
    }
}

pub trait ShowDebug {
    fn __retry_show(&self) -> impl fmt::Display;
}

impl<E: fmt::Debug> ShowDebug for Show<'_, E> {
    fn __retry_show(&self) -> impl fmt::Display {
        fmt::from_fn(|f| self.0.fmt(f))
    }
}

pub trait ShowName {
    fn __retry_show(&self) -> &'static str;
}

impl<E> ShowName for &Show<'_, E> {
    fn __retry_show(&self) -> &'static str {
        type_name::<E>()
    }
}

/// Compares by `PartialEq` where the type has it, else by the text of `Display`, else by that of `Debug`.
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
    // The bound is the method's, so that an error about it is one about the user's type.
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
