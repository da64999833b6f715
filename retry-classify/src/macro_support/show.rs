//! Errors as text, without a bound on the user's type.
//!
//! A method call takes the first candidate whose bounds hold, and dereferences or borrows to find the next. The method
//! names are long so that they don't collide with a user's trait.

use core::any::type_name;
use core::error::Error;
use core::fmt;
use core::ops::Deref;

use super::else_by;
use crate::error_text::chain;
use crate::{Classify, Verdict};

/// The error as text: with its causes if its type is an `Error` or dereferences to one, as `anyhow::Error` and
/// `Box<dyn Error>` do; by `Display` if it has only that; otherwise by [`Classify::describe`], or by the name of its
/// type. Never by `Debug`, which may reveal secrets.
pub fn show<E>(error: &E) -> Show<'_, E> {
    Show(ShowWithin(ShowDisplay(ShowClassify(ShowName(error)))))
}

pub struct Show<'a, E>(ShowWithin<'a, E>);

pub struct ShowWithin<'a, E>(ShowDisplay<'a, E>);

pub struct ShowDisplay<'a, E>(ShowClassify<'a, E>);

pub struct ShowClassify<'a, E>(ShowName<'a, E>);

pub struct ShowName<'a, E>(&'a E);

/// An error whose causes can be read. If the type is not inferred yet, the compiler selects this candidate.
#[diagnostic::on_unimplemented(
    message = "`retrying!` must know the block's error type at the end of the block, but `{Self}` is only inferred later",
    label = "the error type is inferred too late",
    note = "write the type here: `async -> Result<_, {Self}> {{ … }}`, or without `async` for blocking code"
)]
pub trait ShownError: Error {}

#[diagnostic::do_not_recommend]
impl<E: Error> ShownError for E {}

impl<E: ShownError> Show<'_, E> {
    pub fn __retry_show(&self) -> &dyn fmt::Display {
        self
    }
}

impl<E: fmt::Display + Deref<Target: Error>> ShowWithin<'_, E> {
    pub fn __retry_show(&self) -> &dyn fmt::Display {
        self
    }
}

impl<E: fmt::Display> ShowDisplay<'_, E> {
    pub fn __retry_show(&self) -> &dyn fmt::Display {
        self.0.0.0
    }
}

impl<E: Classify> ShowClassify<'_, E> {
    pub fn __retry_show(&self) -> &dyn fmt::Display {
        self
    }
}

impl<E> ShowName<'_, E> {
    pub fn __retry_show(&self) -> &dyn fmt::Display {
        self
    }
}

else_by!(
    Show, ShowWithin;
    ShowWithin, ShowDisplay;
    ShowDisplay, ShowClassify;
    ShowClassify, ShowName;
);

impl<E: Error> fmt::Display for Show<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShowName(error) = self.0.0.0.0;
        chain::write(f, error, None, error.source())
    }
}

impl<E: fmt::Display + Deref<Target: Error>> fmt::Display for ShowWithin<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShowName(error) = self.0.0.0;
        let within: &E::Target = error;
        chain::write(f, error, Some(&within), within.source())
    }
}

impl<E: Classify> fmt::Display for ShowClassify<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0.describe(f)
    }
}

impl<E> fmt::Display for ShowName<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(type_name::<E>())
    }
}

/// An error of a type that derives `Classify`, and the text shown for it if its type is neither an `Error` nor
/// `Display`.
pub struct Unshown<'a, E: ?Sized>(pub &'a E, pub &'static str);

impl<E: Error + ?Sized> Error for Unshown<'_, E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl<E: fmt::Display + ?Sized> fmt::Display for Unshown<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: ?Sized> fmt::Debug for Unshown<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.1)
    }
}

impl<E: ?Sized> Classify for Unshown<'_, E> {
    fn classify(&self) -> Verdict {
        Verdict::STOP
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.1)
    }
}
