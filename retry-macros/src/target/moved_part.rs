//! Detects bodies that move a field out of an argument, which works once but not in a retry.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};

use crate::tokens::{any, is_ident, is_punct, stream};

/// Finds the `request.messages` of `for m in request.messages { … } request.messages = all;`. The attempt's block
/// captures and owns the field that it moves, so assigning to the field doesn't restore the argument, unless the
/// field's type is `Copy`.
pub(super) fn find(body: TokenStream, name: &Ident) -> Option<TokenStream> {
    let (mut moved, mut set) = (Vec::new(), Vec::new());
    let occurs_alone = any(body, &mut |before, from| {
        let is_field = before.last().is_some_and(|before| is_punct(before, '.'));
        if is_field || !matches!(&from[0], TokenTree::Ident(ident) if ident == name) {
            return false;
        }
        let Some(end) = field_len(from) else {
            return true;
        };
        let (part, after) = from.split_at(end);
        match after.first() {
            Some(TokenTree::Group(group))
                if group.delimiter() == Delimiter::Brace
                    && before.last().is_some_and(|before| is_ident(before, "in")) =>
            {
                moved.push(stream(part));
            }
            Some(TokenTree::Punct(punct))
                if punct.as_char() == '=' && punct.spacing() == Spacing::Alone =>
            {
                set.push(stream(part).to_string());
            }
            _ => {}
        }
        false
    });
    // If the name also occurs without a field, it may be a local variable.
    let moved = moved.into_iter().filter(|_| !occurs_alone);
    moved
        .into_iter()
        .find(|moved| set.contains(&moved.to_string()))
}

/// The number of leading tokens that name a field, or a field of a field.
fn field_len(tokens: &[TokenTree]) -> Option<usize> {
    let fields = tokens[1..]
        .chunks_exact(2)
        .take_while(|pair| matches!(pair, [dot, TokenTree::Ident(_)] if is_punct(dot, '.')));
    let fields = fields.count();
    (fields > 0).then_some(1 + 2 * fields)
}
