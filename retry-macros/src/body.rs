//! Where, in a function's body, the user's own code stands.
//!
//! Mostly it is the body. But a body may be one `async` block, as in
//! `fn f() -> impl Future<…> { async move { … } }`, or another attribute that stands above may have put the
//! user's code in a block of its own, after statements that move the arguments. There only that block is
//! to be repeated:
//!
//! ```text
//! Box::pin(async move {                                     #[async_trait]
//!     let __self = self;
//!     let __ret: Result<…> = { /* the user's code */ };
//!     __ret
//! })
//!
//! let __tracing_instrument_future = async move { … };       #[tracing::instrument]
//! ```

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

use crate::tokens::mentions;

/// A block that holds the user's code.
pub(crate) struct Inner<'a> {
    pub(crate) block: &'a Group,
    /// Whether `.await` can be used there.
    pub(crate) awaits: bool,
    /// What `self` is called there, where not `self`.
    pub(crate) this: Option<Ident>,
}

/// Puts `with(inner)` in place of the block into which another attribute put the user's code, if one did.
pub(crate) fn replace_generated(
    body: &TokenStream,
    with: &mut impl FnMut(Inner) -> TokenStream,
) -> Option<TokenStream> {
    let mut search = Search {
        this: None,
        instrumented: false,
        with,
    };
    search.stream(body.clone())
}

struct Search<'a, F> {
    this: Option<Ident>,
    /// Whether a blocking function's span was seen.
    instrumented: bool,
    with: &'a mut F,
}

impl<F: FnMut(Inner) -> TokenStream> Search<'_, F> {
    fn stream(&mut self, stream: TokenStream) -> Option<TokenStream> {
        self.tokens(stream.into_iter().collect())
    }

    fn tokens(&mut self, mut tokens: Vec<TokenTree>) -> Option<TokenStream> {
        for index in 0..tokens.len() {
            self.note(&tokens[index..]);
            let (offset, awaits) = match &tokens[index..] {
                [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..]
                    if *keyword == "let" && *name == "__ret" =>
                {
                    (2 + initialiser(rest)?, true)
                }
                [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..]
                    if *keyword == "let" && *name == "__tracing_instrument_future" =>
                {
                    (2 + initialiser(rest)?, true)
                }
                // The blocking functions of `#[instrument]`, without and with `err` or `ret`.
                [
                    TokenTree::Punct(hash),
                    TokenTree::Group(attribute),
                    TokenTree::Group(_),
                    ..,
                ] if self.instrumented
                    && hash.as_char() == '#'
                    && mentions(attribute.stream(), "warn")
                    && mentions(attribute.stream(), "suspicious_else_formatting") =>
                {
                    (2, false)
                }
                [TokenTree::Group(closure), TokenTree::Group(call), ..]
                    if self.instrumented
                        && call.delimiter() == Delimiter::Parenthesis
                        && call.stream().is_empty() =>
                {
                    let Some(replaced) = self.closure(closure) else {
                        continue;
                    };
                    tokens[index] = replaced.into();
                    return Some(tokens.into_iter().collect());
                }
                [TokenTree::Group(group), ..] => {
                    let Some(replaced) = self.stream(group.stream()) else {
                        continue;
                    };
                    tokens[index] = regroup(group, replaced).into();
                    return Some(tokens.into_iter().collect());
                }
                _ => continue,
            };
            let TokenTree::Group(block) = &tokens[index + offset] else {
                return None;
            };
            let replaced = self.innermost(block, awaits);
            tokens[index + offset] = regroup(block, replaced).into();
            return Some(tokens.into_iter().collect());
        }
        None
    }

    /// The content of `block` with the user's code in it replaced.
    fn innermost(&mut self, block: &Group, awaits: bool) -> TokenStream {
        if let Some(replaced) = self.stream(block.stream()) {
            return replaced;
        }
        let mut tokens: Vec<_> = block.stream().into_iter().collect();
        // `match async move { … }.await { Ok(x) => …`, for `err` and `ret` of `#[instrument]`.
        let awaited = match tokens.as_slice() {
            [TokenTree::Ident(keyword), rest @ ..] if *keyword == "match" => is_awaited(rest, 3),
            [
                TokenTree::Ident(keyword),
                TokenTree::Ident(name),
                _,
                rest @ ..,
            ] if *keyword == "let" && (*name == "x" || *name == "__match_scrutinee") => {
                is_awaited(rest, 5)
            }
            _ => None,
        };
        if let Some(index) = awaited
            && let TokenTree::Group(inner) = &tokens[index]
        {
            tokens[index] = regroup(inner, self.replace(inner, true)).into();
            return tokens.into_iter().collect();
        }
        self.replace(block, awaits)
    }

    fn replace(&mut self, block: &Group, awaits: bool) -> TokenStream {
        let this = self.this.clone();
        (self.with)(Inner {
            block,
            awaits,
            this,
        })
    }

    /// `(move || { … })`
    fn closure(&mut self, closure: &Group) -> Option<Group> {
        let mut tokens: Vec<_> = closure.stream().into_iter().collect();
        let [TokenTree::Ident(first), _, _, TokenTree::Group(block)] = tokens.as_slice() else {
            return None;
        };
        if *first != "move" {
            return None;
        }
        tokens[3] = regroup(block, self.replace(block, false)).into();
        Some(regroup(closure, tokens.into_iter().collect()))
    }

    /// `let __self = self;` and `let __tracing_attr_guard;`
    fn note(&mut self, tokens: &[TokenTree]) {
        let tokens = match tokens {
            [
                TokenTree::Ident(keyword),
                TokenTree::Ident(mutable),
                rest @ ..,
            ] if *keyword == "let" && *mutable == "mut" => rest,
            [TokenTree::Ident(keyword), rest @ ..] if *keyword == "let" => rest,
            _ => return,
        };
        match tokens {
            [TokenTree::Ident(name), _, TokenTree::Ident(this), ..]
                if *name == "__self" && *this == "self" =>
            {
                self.this = Some(name.clone());
            }
            [TokenTree::Ident(name), ..] if *name == "__tracing_attr_guard" => {
                self.instrumented = true;
            }
            _ => {}
        }
    }
}

/// The index of the block that ends the statement: `: Type = { … };` or `= async move { … };`.
fn initialiser(tokens: &[TokenTree]) -> Option<usize> {
    tokens.windows(2).position(|pair| match pair {
        [TokenTree::Group(block), TokenTree::Punct(end)] => {
            block.delimiter() == Delimiter::Brace && end.as_char() == ';'
        }
        _ => false,
    })
}

/// `async move { … }.await`: the block's index, where `tokens` begin `before` after all.
fn is_awaited(tokens: &[TokenTree], index: usize) -> Option<usize> {
    match tokens {
        [
            TokenTree::Ident(first),
            TokenTree::Ident(_),
            TokenTree::Group(_),
            TokenTree::Punct(_),
            TokenTree::Ident(last),
            ..,
        ] if *first == "async" && *last == "await" => Some(index),
        _ => None,
    }
}

/// Puts `with(inner)` in place of the content of the `async` block that is the whole body:
/// `async move { … }`, `Box::pin(async move { … })` or `async move { … }.boxed()`.
pub(crate) fn replace_lone_async(
    body: &TokenStream,
    with: &mut impl FnMut(Inner) -> TokenStream,
) -> Option<TokenStream> {
    let mut tokens: Vec<_> = body.clone().into_iter().collect();
    let index = match tokens.as_slice() {
        [TokenTree::Ident(first), rest @ ..] if *first == "async" => match rest {
            [TokenTree::Ident(_), TokenTree::Group(_), rest @ ..] => {
                is_boxing(rest).then_some(2)?
            }
            [TokenTree::Group(_), rest @ ..] => is_boxing(rest).then_some(1)?,
            _ => return None,
        },
        [path @ .., TokenTree::Ident(pin), TokenTree::Group(argument)]
            if *pin == "pin" && is_path(path) =>
        {
            let replaced = replace_lone_async(&argument.stream(), with)?;
            let argument = regroup(argument, replaced);
            tokens.pop();
            tokens.push(argument.into());
            return Some(tokens.into_iter().collect());
        }
        _ => return None,
    };
    let TokenTree::Group(block) = &tokens[index] else {
        return None;
    };
    let replaced = with(Inner {
        block,
        awaits: true,
        this: None,
    });
    tokens[index] = regroup(block, replaced).into();
    Some(tokens.into_iter().collect())
}

/// Nothing, `.boxed()` or `.boxed_local()`.
fn is_boxing(tokens: &[TokenTree]) -> bool {
    match tokens {
        [] => true,
        [
            TokenTree::Punct(_),
            TokenTree::Ident(boxed),
            TokenTree::Group(_),
        ] => *boxed == "boxed" || *boxed == "boxed_local",
        _ => false,
    }
}

/// `Box::`, `::std::boxed::Box::`, …
fn is_path(tokens: &[TokenTree]) -> bool {
    let boxed = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if *ident == "Box");
    tokens.iter().any(boxed)
        && tokens.iter().all(|token| match token {
            TokenTree::Punct(colon) => colon.as_char() == ':',
            TokenTree::Ident(_) => true,
            _ => false,
        })
}

fn regroup(group: &Group, content: TokenStream) -> Group {
    let mut regrouped = Group::new(group.delimiter(), content);
    regrouped.set_span(group.span());
    regrouped
}
