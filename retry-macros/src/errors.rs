//! The one collector of mistakes, since all are reported at once.

use std::fmt::Arguments;

use proc_macro2::{Span, TokenStream};

/// A mistake, with a message as `format!` takes it.
macro_rules! error {
    ($span:expr => $($message:tt)*) => {
        crate::errors::at($span, format_args!($($message)*))
    };
}

pub(crate) use error;

/// What [`error!`] calls, which is compiled once.
pub(crate) fn at(span: Span, message: Arguments<'_>) -> syn::Error {
    syn::Error::new(span, message)
}

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

    pub(crate) fn append(&mut self, errors: &Self) {
        self.0.extend_from_slice(&errors.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_compile_error(self) -> Option<TokenStream> {
        // If a block's arguments are wrong for one member, they are often wrong for the next one as well.
        let mut said = Vec::new();
        let mut all: Option<syn::Error> = None;
        for error in self.0 {
            let this = format!("{:?} {error}", error.span());
            if said.contains(&this) {
                continue;
            }
            said.push(this);
            match &mut all {
                Some(all) => all.combine(error),
                None => all = Some(error),
            }
        }
        all.map(syn::Error::into_compile_error)
    }
}
