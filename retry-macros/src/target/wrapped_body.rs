//! Finds the user's own code in a function's body.
//!
//! Usually that is the whole body. But the body may be one `async` block, as in
//! `fn f() -> impl Future<…> { async move { … } }`. Or another attribute above may have put the user's code in a
//! separate block, after statements that move the arguments. In these cases only that block must be repeated.
//!
//! A name such as `__ret` proves nothing, because it may be a user's local variable. Repeating only the code after it
//! would run the rest just once. So a body must have exactly the shape that the other attribute generates, from its
//! first token to its last. Any other body is repeated as a whole.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

use crate::target::function::Function;
use crate::tokens::{stream, to_vec, with_content};

// In shapes, brackets match a group of that kind, `{@}` and `(@)` the group to continue in, `path` the path before a
// name, `…` any tokens without a semicolon, and `...` any tokens.

/// The box around an `async` block.
const PINNED: &[&str] = &["path Box : : pin (@)"];

/// A body that is a single `async` block.
const LONE_BLOCK: &[&str] = &[
    "async {@}",
    "async move {@}",
    "async {@} . boxed ()",
    "async move {@} . boxed ()",
    "async {@} . boxed_local ()",
    "async move {@} . boxed_local ()",
];

/// `#[async_trait]`, in its boxed block: `let __ret: Result<…> = { /* the user's code */ };`.
const ASYNC_TRAIT: &[&str] = &[
    "if let : : core : : option : : Option : : Some () = … {} ... let __ret : … = {@} ; # [] __ret",
];

/// `#[tracing::instrument]` on async code, in a function and in an `async` block.
const INSTRUMENTED: &[&str] = &[
    "{} let __tracing_attr_span = … ; let __tracing_instrument_future = async move {@} ; \
     if ! __tracing_attr_span . is_disabled () {} else {}",
    "let __tracing_attr_span = … ; let __tracing_instrument_future = async move {@} ; \
     if ! __tracing_attr_span . is_disabled () {} else {}",
];

/// The code for `err`, `ret` or both in the block of [`INSTRUMENTED`].
const INSTRUMENTED_OUTCOME: &[&str] = &[
    "match async move {@} . await {}",
    "let x = async move {@} . await ; … ; x",
    "let __match_scrutinee = async move {@} . await ; match __match_scrutinee {}",
];

/// `#[tracing::instrument]` on a blocking function: with `err`, with `ret` alone, and with neither.
const ENTERED: &[&str] = &[
    "{} let __tracing_attr_span ; let __tracing_attr_guard ; if … {} # [] match (@) () {}",
    "{} let __tracing_attr_span ; let __tracing_attr_guard ; if … {} # [] let x = (@) () ; … ; x",
    "{} # [] {@}",
];

/// The content of the closure or the block of [`ENTERED`].
const ENTERED_INNER: &[&str] = &[
    "move | | {@}",
    "let __tracing_attr_span ; let __tracing_attr_guard ; if … {} # [] {@}",
];

/// `#[tokio::main]` and `#[tokio::test]`: the user's code, run by a runtime that is built for it.
const RUN: &[&str] = &["let body = ... # [] {@}"];

/// The content of the last block of [`RUN`].
const RUN_INNER: &[&str] = &["... return ... . block_on (@) ;"];

/// A body that contains the user's code in a nested block.
pub(crate) struct WrappedBody {
    /// From the body inwards: the tokens of each level, and the index of the next level among them.
    levels: Vec<(Vec<TokenTree>, usize)>,
    /// True if the user's block can await.
    pub(crate) is_async: bool,
    /// The name of `self` in the user's block, if it is renamed.
    pub(crate) this: Option<Ident>,
}

impl WrappedBody {
    fn outermost(is_async: bool) -> Self {
        Self {
            levels: Vec::new(),
            is_async,
            this: None,
        }
    }

    /// Finds the user's code in a function's body without its inner attributes. `None` if it is the whole body.
    pub(crate) fn find(function: &Function, body: &TokenStream) -> Option<Self> {
        let mut found = Self::outermost(true);
        if function.is_future() {
            found.enter(body, PINNED);
            if !found.enter(body, LONE_BLOCK) {
                return None;
            }
        } else if !function.is_async() {
            found.is_async = false;
            // A block with only an attribute may be the user's own.
            let is_whole = found.enter(body, ENTERED) && found.enter(body, ENTERED_INNER);
            return is_whole.then_some(found);
        }
        if found.enter(body, INSTRUMENTED) {
            found.enter(body, INSTRUMENTED_OUTCOME);
        }
        if found.enter(body, ASYNC_TRAIT) {
            found.this = found.levels.last().and_then(|(tokens, _)| self_var(tokens));
        }
        (!found.levels.is_empty()).then_some(found)
    }

    /// True if each run of the body builds a runtime.
    pub(crate) fn builds_runtime(body: &TokenStream) -> bool {
        let mut found = Self::outermost(false);
        found.enter(body, RUN) && found.enter(body, RUN_INNER)
    }

    /// Enters the next level, if the current one has one of the shapes.
    fn enter(&mut self, body: &TokenStream, shapes: &[&str]) -> bool {
        let inner = self.levels.last().map(|_| self.block().stream());
        let tokens = to_vec(inner.unwrap_or_else(|| body.clone()));
        let index = shapes.iter().find_map(|shape| {
            let words: Vec<_> = shape.split_ascii_whitespace().collect();
            match_shape(&tokens, 0, &words)
        });
        self.levels.extend(index.map(|index| (tokens, index)));
        index.is_some()
    }

    /// The block that holds the user's code.
    pub(crate) fn block(&self) -> &Group {
        match self.levels.last().map(|(tokens, index)| &tokens[*index]) {
            Some(TokenTree::Group(block)) => block,
            _ => unreachable!("a level is entered by a group"),
        }
    }

    /// The body with other content in the user's block.
    pub(crate) fn with_user_code(self, content: TokenStream) -> TokenStream {
        let mut content = content;
        for (mut tokens, index) in self.levels.into_iter().rev() {
            if let TokenTree::Group(group) = &tokens[index] {
                tokens[index] = with_content(group, content).into();
            }
            content = stream(&tokens);
        }
        content
    }
}

/// Matches the tokens from `at` to the end against a shape. Returns the index of the group to continue in.
fn match_shape(tokens: &[TokenTree], at: usize, shape: &[&str]) -> Option<usize> {
    let Some((word, rest)) = shape.split_first() else {
        return (at == tokens.len()).then_some(at);
    };
    match *word {
        "..." => (at..tokens.len()).find_map(|end| match_shape(tokens, end, rest)),
        "…" => {
            let anything = tokens[at..].iter().position(|token| eq(token, ";"));
            let last = anything.map_or(tokens.len(), |semicolon| at + semicolon);
            (at..=last).find_map(|end| match_shape(tokens, end, rest))
        }
        "path" => {
            let is_path = |token| matches!(token, &TokenTree::Ident(_)) || eq(token, ":");
            let path = tokens[at..].iter().position(|token| !is_path(token));
            (at..=path.map_or(tokens.len(), |end| at + end))
                .find_map(|end| match_shape(tokens, end, rest))
        }
        _ if !eq(tokens.get(at)?, word) => None,
        _ if word.contains('@') => match_shape(tokens, at + 1, rest).map(|_| at),
        _ => match_shape(tokens, at + 1, rest),
    }
}

fn eq(token: &TokenTree, word: &str) -> bool {
    match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Punct(punct) => word.len() == 1 && word.starts_with(punct.as_char()),
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::Parenthesis => word.starts_with('('),
            Delimiter::Brace => word.starts_with('{'),
            Delimiter::Bracket => word.starts_with('['),
            Delimiter::None => false,
        },
        TokenTree::Literal(_) => false,
    }
}

/// `let __self = self;`
fn self_var(tokens: &[TokenTree]) -> Option<Ident> {
    tokens.windows(4).find_map(|tokens| match tokens {
        [TokenTree::Ident(name), equals, this, end]
            if name == "__self" && eq(equals, "=") && eq(this, "self") && eq(end, ";") =>
        {
            Some(name.clone())
        }
        _ => None,
    })
}
