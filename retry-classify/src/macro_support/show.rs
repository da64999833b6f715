//! Formats errors without a bound on the user's type.
//!
//! Uses autoderef specialization: method lookup dereferences or borrows until it finds a candidate whose bounds hold.
//! The method names are long so that they don't collide with a user's trait.

use alloc::string::String;
use core::any::type_name;
use core::error::Error;
use core::fmt;
use core::ops::Deref;

use super::else_by;
use crate::Classify;
use crate::error_text::chain;

/// The error as text. Includes the causes if the type implements `Error` or, like `anyhow::Error` and `Box<dyn Error>`,
/// dereferences to an `Error`. Otherwise uses `Display`, or else [`Classify::describe`], or else the type's name. Never
/// uses `Debug`, which may reveal secrets.
pub fn show<E>(error: &E) -> Show<'_, E> {
    Show(ShowWithin(ShowDisplay(ShowClassify(ShowName(error, None)))))
}

/// Like [`show`], but uses `name` if the type implements neither `Error` nor `Display`. For derived `describe` impls.
pub fn show_named<'a, E>(error: &'a E, name: &'static str) -> Show<'a, E> {
    let named = ShowName(error, Some(name));
    Show(ShowWithin(ShowDisplay(ShowClassify(named))))
}

/// The error as text, written by the function of the key `show`.
// Returns an opaque type, because otherwise a wrong function would cause two compile errors.
pub fn show_by<E, S>(error: &E, show: S) -> impl fmt::Display + use<'_, E, S>
where
    S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    ShowBy(error, show)
}

struct ShowBy<'a, E, S>(&'a E, S);

impl<E, S: Fn(&E, &mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for ShowBy<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.1)(self.0, f)
    }
}

pub struct ShowName<'a, E>(&'a E, Option<&'static str>);

/// An error whose causes can be read. The compiler also selects this candidate if the type is not inferred yet.
#[diagnostic::on_unimplemented(
    message = "`retrying!` must know the block's error type at the end of the block, but `{Self}` is only inferred later",
    label = "the error type is inferred too late",
    note = "write the type here: `async -> Result<_, {Self}> {{ … }}`, or without `async` for blocking code"
)]
pub trait ShownError: Error {}

#[diagnostic::do_not_recommend]
impl<E: Error> ShownError for E {}

// Written without the macro below, so that rustc's errors about the bound don't mention the macro.
impl<E: ShownError> Show<'_, E> {
    pub fn __retry_show(&self) -> &dyn fmt::Display {
        self
    }
}

macro_rules! candidates {
    ($($name:ident<$error:ident: $($bound:path),*> => |$this:ident| $shown:expr;)*) => {$(
        impl<$error: $($bound +)*> $name<'_, $error> {
            pub fn __retry_show(&self) -> &dyn fmt::Display {
                let $this = self;
                $shown
            }
        }
    )*};
}

candidates! {
    ShowWithin<E: fmt::Display, Deref<Target: Error>> => |this| this;
    ShowDisplay<E: fmt::Display> => |this| this.0.0.0;
    ShowClassify<E: Classify> => |this| this;
    ShowName<E:> => |this| this;
}

else_by!(
    Show, ShowWithin;
    ShowWithin, ShowDisplay;
    ShowDisplay, ShowClassify;
    ShowClassify, ShowName;
);

impl<E: Error> fmt::Display for Show<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShowName(error, _) = self.0.0.0.0;
        chain::write(f, error, None, error.source())
    }
}

impl<E: fmt::Display + Deref<Target: Error>> fmt::Display for ShowWithin<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShowName(error, _) = self.0.0.0;
        let within: &E::Target = error;
        chain::write(f, error, Some(&within), within.source())
    }
}

impl<E: Classify> fmt::Display for ShowClassify<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ShowName(_, Some(name)) => f.write_str(name),
            ShowName(error, None) => error.describe(f),
        }
    }
}

impl<E> fmt::Display for ShowName<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain_name(type_name::<E>()))
    }
}

/// The path in a type's name, without type arguments and closures: `app::Retry` for `app::Retry<i32>`, and
/// `app::Client::get` for a closure in a method of `app::Client<T>` or in its impl of a trait.
pub fn plain_name(name: &str) -> String {
    let (mut plain, mut depth) = (String::new(), 0_u32);
    for (at, char) in name.char_indices() {
        let rest = &name[at..];
        match char {
            // Before a type in an impl: `<Type as Trait>::method` or `module::<impl Trait for Type>::method`.
            '<' if at == 0 || rest.starts_with("<impl ") => {}
            ' ' if plain.ends_with("impl") || plain.ends_with(" for") => plain.clear(),
            ' ' if depth == 0 && rest.starts_with(" as ") => depth = 1,
            '<' => depth += 1,
            ':' if rest.starts_with("::{{") => depth += 2,
            '>' | '}' if !name[..at].ends_with('-') => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(char),
            _ => {}
        }
    }
    plain
}
