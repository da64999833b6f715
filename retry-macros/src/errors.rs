//! Collects errors, so that all of them are reported at once.

use std::collections::BTreeSet;
use std::fmt::Arguments;

use proc_macro2::{Span, TokenStream};

/// An error at a span or, with `in`, at some tokens, with a message as in `format!`.
macro_rules! error {
    (in $tokens:expr => $($message:tt)*) => {
        syn::Error::new_spanned(&$tokens, format_args!($($message)*))
    };
    ($span:expr => $($message:tt)*) => {
        syn::Error::new($span, format_args!($($message)*))
    };
}

/// Rejects each key if its condition holds.
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

/// The errors so far.
#[derive(Clone, Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    pub(crate) fn at(&mut self, span: Span, message: impl Into<String>) {
        self.push(syn::Error::new(span, message.into()));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    /// The part of [`refuse!`] that is not expanded for each key.
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
        // Removes duplicates: an error in a block's arguments often applies to several members.
        let (mut all, mut shown) = (self.0, BTreeSet::new());
        all.retain(|error| shown.insert(format!("{:?} {error}", error.span())));
        let all = all.into_iter().map(syn::Error::into_compile_error);
        (!shown.is_empty()).then(|| all.collect())
    }
}
