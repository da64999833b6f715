//! A part of an argument that no attempt may move, though a single run of the body may.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};

use crate::tokens::{is_ident, is_punct, stream, trees};

/// The `request.messages` of `for m in request.messages { … } request.messages = all;`: the attempt owns what it moves,
/// so setting it leaves the argument as empty as before, unless its type is `Copy`.
pub(super) fn find(body: TokenStream, name: &Ident) -> Option<TokenStream> {
    let mut parts = Parts::default();
    parts.find(body, name)?;
    parts.moved_and_set()
}

/// Parts of an argument, as written.
#[derive(Default)]
struct Parts {
    /// What a `for` goes over.
    moved: Vec<TokenStream>,
    set: Vec<TokenStream>,
}

impl Parts {
    /// Finds the parts. `None` if the name also stands without a part, where it might be a local's.
    fn find(&mut self, tokens: TokenStream, name: &Ident) -> Option<()> {
        let tokens = trees(tokens);
        for (index, token) in tokens.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| &tokens[before]);
            match token {
                TokenTree::Group(group) => self.find(group.stream(), name)?,
                TokenTree::Ident(ident) if ident == name => {
                    if before.is_some_and(|before| is_punct(before, '.')) {
                        continue;
                    }
                    let (part, after) = tokens[index..].split_at(part_of(&tokens[index..])?);
                    match after.first() {
                        Some(TokenTree::Group(group))
                            if group.delimiter() == Delimiter::Brace
                                && before.is_some_and(|before| is_ident(before, "in")) =>
                        {
                            self.moved.push(stream(part));
                        }
                        Some(TokenTree::Punct(punct))
                            if punct.as_char() == '=' && punct.spacing() == Spacing::Alone =>
                        {
                            self.set.push(stream(part));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Some(())
    }

    fn moved_and_set(self) -> Option<TokenStream> {
        let set: Vec<_> = self.set.iter().map(TokenStream::to_string).collect();
        let mut moved = self.moved.into_iter();
        moved.find(|moved| set.contains(&moved.to_string()))
    }
}

/// How many of these tokens, from the start, name a field or a field of a field.
fn part_of(tokens: &[TokenTree]) -> Option<usize> {
    let fields = tokens[1..]
        .chunks_exact(2)
        .take_while(|pair| matches!(pair, [dot, TokenTree::Ident(_)] if is_punct(dot, '.')));
    let fields = fields.count();
    (fields > 0).then_some(1 + 2 * fields)
}
