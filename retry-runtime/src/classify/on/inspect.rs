use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use core::error::Error;

use private::{Erased, Sealed, Text, Typed};

/// What the functions in [`on`](crate::on) take: an error and its sources, or a text.
///
/// It is implemented for every [`Error`] that is `'static`, for `dyn Error` and its `Box`es, for `anyhow::Error` with
/// its feature, and for texts. `Via` only tells these apart and is always inferred. An error with a lifetime doesn't
/// qualify: write a closure for it.
#[diagnostic::on_unimplemented(
    message = "the functions of `retry_runtime::on` can't look into `{Self}`",
    label = "not an `Error` that is `'static`",
    note = "implement `std::error::Error` for `{Self}`, or name a function of your own with `on = …`"
)]
pub trait Inspect<Via>: Sealed<Via> {
    #[doc(hidden)]
    fn error(&self) -> Option<&(dyn Error + 'static)>;

    #[doc(hidden)]
    fn text(&self) -> Option<&str>;
}

mod private {
    pub trait Sealed<Via> {}

    /// Errors.
    #[derive(Debug)]
    pub struct Typed;
    /// Types that hold an error and are not one. A separate impl, so that it doesn't overlap with the one for all
    /// errors.
    #[derive(Debug)]
    pub struct Erased;
    /// Texts.
    #[derive(Debug)]
    pub struct Text;
}

impl<E: Error + 'static> Sealed<Typed> for E {}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> Inspect<Typed> for E {
    fn error(&self) -> Option<&(dyn Error + 'static)> {
        Some(self)
    }

    fn text(&self) -> Option<&str> {
        None
    }
}

macro_rules! inspect_erased {
    ($($error:ty),*) => {$(
        impl Sealed<Erased> for $error {}

        impl Inspect<Erased> for $error {
            fn error(&self) -> Option<&(dyn Error + 'static)> {
                Some(&**self)
            }

            fn text(&self) -> Option<&str> {
                None
            }
        }
    )*};
}

inspect_erased!(
    Box<dyn Error>,
    Box<dyn Error + Send>,
    Box<dyn Error + Send + Sync>
);
#[cfg(feature = "anyhow_1")]
inspect_erased!(anyhow::Error);

macro_rules! inspect_unsized {
    ($($error:ty),*) => {$(
        impl Sealed<Erased> for $error {}

        impl Inspect<Erased> for $error {
            fn error(&self) -> Option<&(dyn Error + 'static)> {
                Some(self)
            }

            fn text(&self) -> Option<&str> {
                None
            }
        }
    )*};
}

inspect_unsized!(dyn Error, dyn Error + Send, dyn Error + Send + Sync);

macro_rules! inspect_text {
    ($($text:ty),*) => {$(
        impl Sealed<Text> for $text {}

        impl Inspect<Text> for $text {
            fn error(&self) -> Option<&(dyn Error + 'static)> {
                None
            }

            fn text(&self) -> Option<&str> {
                Some(self)
            }
        }
    )*};
}

inspect_text!(str, &str, String, Cow<'_, str>);
