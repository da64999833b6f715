//! The one collector of mistakes, since all are reported at once.

use std::fmt::Arguments;

use proc_macro2::{Span, TokenStream};

/// A mistake at a span or, after `in`, at all of some tokens. Its message is as for `format!`.
macro_rules! error {
    (in $tokens:expr => $($message:tt)*) => {
        syn::Error::new_spanned(&$tokens, format_args!($($message)*))
    };
    ($span:expr => $($message:tt)*) => {
        syn::Error::new($span, format_args!($($message)*))
    };
}

/// Refuses each key, at its place, if its condition holds.
macro_rules! refuse {
    ($arguments:expr, $errors:expr; $($key:ident if $is_refused:expr => $message:literal)*) => {
        $($errors.refuse(
            $arguments
                .get(retry_vocabulary::key::Key::$key)
                .filter(|_| $is_refused)
                .map(|argument| argument.ident.span()),
            format_args!($message),
        );)*
    };
}

pub(crate) use {error, refuse};

/// All mistakes so far.
#[derive(Clone, Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    pub(crate) fn at(&mut self, span: Span, message: impl Into<String>) {
        self.push(syn::Error::new(span, message.into()));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    /// The part of [`refuse!`] that is compiled once.
    pub(crate) fn refuse(&mut self, refused: Option<Span>, message: Arguments<'_>) {
        if let Some(span) = refused {
            self.push(syn::Error::new(span, message));
        }
    }

    pub(crate) fn append(&mut self, errors: &Self) {
        self.0.extend_from_slice(&errors.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_compile_error(self) -> Option<TokenStream> {
        // If a block's arguments are wrong for one member, they are often wrong for the next one as well.
        let (mut all, mut said) = (self.0, Vec::new());
        all.retain(|error| {
            let this = format!("{:?} {error}", error.span());
            let is_new = !said.contains(&this);
            said.push(this);
            is_new
        });
        let all = all.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        all.map(syn::Error::into_compile_error)
    }
}
