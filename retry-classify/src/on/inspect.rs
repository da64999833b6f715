use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::error::Error;

use crate::sources::causes;
use crate::verdict::Verdict;
use private::{Erased, Text, Typed};

/// The arguments of the functions in [`on`](crate::on): errors with their sources, and texts.
///
/// Implemented for every `'static` [`Error`], for `dyn Error` and its `Box`es, for `anyhow::Error` with its feature,
/// and for texts. `Via` only distinguishes these impls and is always inferred. Not implemented for errors with a
/// lifetime: write a closure for such an error. Other crates can't implement this trait, because they can't name its
/// method's return type.
#[diagnostic::on_unimplemented(
    message = "the functions of `retry_runtime::on` can't inspect `{Self}`",
    label = "not an `Error` that is `'static`",
    note = "implement `std::error::Error` for `{Self}`, or use a function of your own with `on = …`"
)]
pub trait Inspect<Via> {
    #[doc(hidden)]
    fn inspected(&self) -> Inspected<'_>;
}

/// An error with its sources, or a text.
#[derive(Debug)]
pub enum Inspected<'a> {
    Error(&'a (dyn Error + 'static)),
    Text(&'a str),
}

impl Inspected<'_> {
    /// The first verdict that `find` returns for a cause. Stops for a text, which has no causes.
    pub(super) fn verdict(self, find: fn(&(dyn Error + 'static)) -> Option<Verdict>) -> Verdict {
        match self {
            Self::Error(error) => causes(error).find_map(find).unwrap_or(Verdict::STOP),
            Self::Text(_) => Verdict::STOP,
        }
    }

    /// The first result of `find` for the message of the error or a source.
    pub(super) fn find<T>(self, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        match self {
            Self::Error(error) => causes(error).find_map(|cause| find(&cause.to_string())),
            Self::Text(text) => find(text),
        }
    }
}

mod private {
    /// Errors.
    #[derive(Debug)]
    pub struct Typed;
    /// Types that contain an error but don't implement `Error`. Their marker differs from `Typed`, so that their impls
    /// don't overlap with the impl for all errors.
    #[derive(Debug)]
    pub struct Erased;
    /// Texts.
    #[derive(Debug)]
    pub struct Text;
}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> Inspect<Typed> for E {
    fn inspected(&self) -> Inspected<'_> {
        Inspected::Error(self)
    }
}

macro_rules! inspect {
    ($via:ident: $($type:ty)|+ => |$this:ident| $inspected:expr) => {$(
        impl Inspect<$via> for $type {
            fn inspected(&self) -> Inspected<'_> {
                let $this = self;
                $inspected
            }
        }
    )+};
}

inspect!(Erased: Box<dyn Error> | Box<dyn Error + Send> | Box<dyn Error + Send + Sync>
    => |error| Inspected::Error(&**error));
#[cfg(feature = "anyhow_1")]
inspect!(Erased: anyhow::Error => |error| Inspected::Error(&**error));
inspect!(Erased: dyn Error | dyn Error + Send | dyn Error + Send + Sync
    => |error| Inspected::Error(error));
inspect!(Text: str | &str | String | Cow<'_, str> => |text| Inspected::Text(text));
