//! Small things to do with tokens.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;

/// Whether the name stands anywhere among the tokens.
pub(crate) fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

/// A path that stands in many places. Its tokens are appended one by one, since a stream would be opened each time.
#[derive(Clone)]
pub(crate) struct Path(Vec<TokenTree>);

impl Path {
    pub(crate) fn new(tokens: TokenStream) -> Self {
        Self(tokens.into_iter().collect())
    }

    /// The same at a place, where errors about it will point. What it resolves to stays.
    pub(crate) fn located_at(&self, place: Span) -> Self {
        let mut tokens = self.0.clone();
        for token in &mut tokens {
            token.set_span(token.span().located_at(place));
        }
        Self(tokens)
    }
}

impl ToTokens for Path {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.iter().cloned());
    }
}
