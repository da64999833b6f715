//! What the key `stream` asks of a function that returns one.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Type;

use crate::argument::Value;
use crate::key::Key;
use crate::outcome;
use crate::parse::Arguments;
use crate::tokens::Path;

/// What is done with the stream that a function returns.
pub(crate) struct Stream {
    pub(crate) mode: Mode,
    /// What it yields, without `impl Trait`.
    pub(crate) item: Type,
    /// The stream's type, where it is boxed.
    boxed: Option<Type>,
    pub(crate) in_result: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    First,
    Buffer,
    Resume,
}

impl Mode {
    pub(crate) fn of(arguments: &Arguments) -> Option<Self> {
        match arguments.value(Key::Stream)? {
            Value::Word("buffer", _) => Some(Self::Buffer),
            Value::Word("resume", _) => Some(Self::Resume),
            _ => Some(Self::First),
        }
    }

    /// The module of the runtime.
    pub(crate) fn module(self) -> Ident {
        let name = match self {
            Self::First => "first",
            Self::Buffer => "buffer",
            Self::Resume => "resume",
        };
        Ident::new(name, Span::mixed_site())
    }
}

impl Stream {
    pub(crate) fn new(arguments: &Arguments, outcome: &Type) -> Option<Self> {
        let mode = Mode::of(arguments)?;
        let streamed = outcome::stream(outcome)?;
        Some(Self {
            mode,
            item: outcome::erase_impl_trait(streamed.item),
            boxed: streamed
                .is_boxed
                .then(|| outcome::erase_impl_trait(streamed.stream)),
            in_result: streamed.in_result,
        })
    }

    /// In `"resume"`, the errors and the items that the body and the end of the call see.
    pub(crate) fn history(&self, support: &Path) -> Option<TokenStream> {
        let item = &self.item;
        (self.mode == Mode::Resume).then(|| {
            quote_spanned! {Span::mixed_site()=>
                #support::stream::resume::history::<#item>()
            }
        })
    }

    /// After a failure that is retried.
    pub(crate) fn keep_progress(&self, support: &Path) -> Option<TokenStream> {
        (self.mode == Mode::Resume).then(|| {
            quote_spanned! {Span::mixed_site()=>
                #support::stream::resume::keep(&mut retry_history, retry_progress);
            }
        })
    }

    /// A condition, and what joins it to another.
    pub(crate) fn made_no_progress(&self, support: &Path) -> Option<TokenStream> {
        (self.mode == Mode::Resume).then(|| {
            quote_spanned! {Span::mixed_site()=>
                #support::stream::resume::is_without_items(&retry_progress) &&
            }
        })
    }

    /// The stream as the function's type has it.
    pub(crate) fn returned(&self, support: &Path, stream: TokenStream) -> TokenStream {
        match &self.boxed {
            Some(boxed) => quote_spanned! {Span::mixed_site()=>
                {
                    let retry_boxed: #boxed = #support::Box::pin(#stream);
                    retry_boxed
                }
            },
            None => stream,
        }
    }
}
