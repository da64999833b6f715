//! Small things to do with tokens.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::TokenStreamExt;

/// Whether the name stands anywhere among the tokens.
pub(crate) fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

/// Moves tokens to a place, where errors about them will point, without changing what they resolve to.
pub(crate) fn locate(tokens: TokenStream, place: Span) -> TokenStream {
    let mut located = TokenStream::new();
    for mut token in tokens {
        token.set_span(token.span().located_at(place));
        located.append(token);
    }
    located
}
