//! How code is put together from tokens.

use std::slice;

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};

/// Code with the values of locals where it says `#local`, from the call site. As `quote!` does it, but the compiler sees a
/// text and the values in place of a call for each token, which takes it a tenth of the time. There is no `#(…)*`.
macro_rules! code {
    ($($tokens:tt)*) => {
        crate::tokens::code_at!(proc_macro2::Span::call_site()=> $($tokens)*)
    };
}

/// [`code!`] with another span.
macro_rules! code_at {
    ($span:expr=> $($tokens:tt)*) => {{
        #[allow(unused_mut)]
        let mut values: Vec<&dyn quote::ToTokens> = Vec::new();
        crate::tokens::each_value!(values (@ $($tokens)*) ($($tokens)* @));
        crate::tokens::fill(stringify!($($tokens)*), &values, $span)
    }};
}

/// Looks at each token and the one before it.
macro_rules! each_value {
    ($values:ident ($($before:tt)*) ($($token:tt)*)) => {
        $(crate::tokens::value!($values $before $token);)*
    };
}

macro_rules! value {
    ($values:ident # $value:ident) => {
        $values.push(&$value)
    };
    ($values:ident $before:tt ($($tokens:tt)*)) => {
        crate::tokens::each_value!($values (@ $($tokens)*) ($($tokens)* @))
    };
    ($values:ident $before:tt [$($tokens:tt)*]) => {
        crate::tokens::each_value!($values (@ $($tokens)*) ($($tokens)* @))
    };
    ($values:ident $before:tt {$($tokens:tt)*}) => {
        crate::tokens::each_value!($values (@ $($tokens)*) ($($tokens)* @))
    };
    ($values:ident $before:tt $token:tt) => {};
}

/// The expansion's own code. Its locals neither leak into the user's code nor clash with it.
macro_rules! ours {
    ($($tokens:tt)*) => {
        crate::tokens::code_at!(proc_macro2::Span::mixed_site()=> $($tokens)*)
    };
}

/// [`ours!`], but errors point at a span in the user's code.
macro_rules! ours_at {
    ($span:expr=> $($tokens:tt)*) => {
        crate::tokens::with_import_at_call_site(
            crate::tokens::code_at!(proc_macro2::Span::mixed_site().located_at($span)=> $($tokens)*)
        )
    };
}

pub(crate) use {code, code_at, each_value, ours, ours_at, value};

/// What [`code!`] makes of a text and its values.
pub(crate) fn fill(text: &str, values: &[&dyn ToTokens], span: Span) -> TokenStream {
    let text: TokenStream = text.parse().expect("the tokens of a macro");
    filled(text, &mut values.iter(), span)
}

fn filled(text: TokenStream, values: &mut slice::Iter<&dyn ToTokens>, span: Span) -> TokenStream {
    let mut filled = TokenStream::new();
    let mut text = text.into_iter().peekable();
    while let Some(mut token) = text.next() {
        if let (TokenTree::Punct(hash), Some(TokenTree::Ident(_))) = (&token, text.peek()) {
            if hash.as_char() == '#' {
                text.next();
                values
                    .next()
                    .expect("a value for each name")
                    .to_tokens(&mut filled);
                continue;
            }
        }
        if let TokenTree::Group(group) = &token {
            token = Group::new(
                group.delimiter(),
                self::filled(group.stream(), values, span),
            )
            .into();
        }
        token.set_span(span);
        filled.append(token);
    }
    filled
}

/// The same tokens, their paths into the runtime from the call site: the compiler then says of a bound that does not hold
/// where the path stands, not where the attribute does.
pub(crate) fn with_import_at_call_site(tokens: TokenStream) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(mut ident) if ident == RUNTIME => {
            ident.set_span(Span::call_site().located_at(ident.span()));
            TokenTree::Ident(ident)
        }
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            let mut located =
                Group::new(Delimiter::Brace, with_import_at_call_site(group.stream()));
            located.set_span(group.span());
            TokenTree::Group(located)
        }
        token => token,
    });
    tokens.collect()
}

/// What expansions call the runtime's internals. Items have no hygiene, so the user's code sees the name, too: hence one
/// that nobody else uses. It also tells that a body was already expanded.
pub(crate) const RUNTIME: &str = "__retry";

/// Whether the name stands anywhere among the tokens.
pub(crate) fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

/// Whether the name stands among the tokens, not as that of a field.
pub(crate) fn uses(tokens: TokenStream, name: &str) -> bool {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let is = |token: Option<&TokenTree>, char, spacing| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char && punct.spacing() == spacing);
    tokens.iter().enumerate().any(|(index, token)| match token {
        TokenTree::Ident(ident) if ident == name => {
            let before = index.checked_sub(1).and_then(|before| tokens.get(before));
            let is_field =
                is(before, '.', Spacing::Alone) || is(tokens.get(index + 1), ':', Spacing::Alone);
            !is_field
        }
        TokenTree::Group(group) => uses(group.stream(), name),
        _ => false,
    })
}

/// The methods of `Attempt` and `GaveUp` that don't tell the time.
const TIMELESS: [&str; 18] = [
    "advance",
    "attempts",
    "call_id",
    "corrections",
    "error",
    "errors",
    "into_error",
    "into_errors",
    "into_last_value",
    "is_last",
    "last_error",
    "last_item",
    "last_value",
    "max",
    "number",
    "position",
    "reason",
    "yielded",
];

/// Whether an `Attempt` or a `GaveUp` of that name may be asked for the time. It can't be if the code only calls
/// methods on it that don't tell the time. If it is passed on as a whole, even into a format string, it may be.
pub(crate) fn asks_time(tokens: TokenStream, name: &Ident) -> bool {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let captured = format!("{{{name}");
    tokens.iter().enumerate().any(|(index, token)| match token {
        TokenTree::Ident(ident) if ident == name => {
            let method = match (tokens.get(index + 1), tokens.get(index + 2)) {
                (Some(TokenTree::Punct(dot)), Some(TokenTree::Ident(method)))
                    if dot.as_char() == '.' =>
                {
                    method
                }
                _ => return true,
            };
            !TIMELESS.iter().any(|timeless| method == timeless)
        }
        TokenTree::Literal(text) => text.to_string().contains(&captured),
        TokenTree::Group(group) => asks_time(group.stream(), name),
        _ => false,
    })
}

/// The path to the runtime crate, which the key `crate` may name.
#[derive(Clone)]
pub(crate) struct RuntimePath(TokenStream);

impl RuntimePath {
    pub(crate) fn new(named: Option<TokenStream>) -> Self {
        Self(named.unwrap_or_else(|| quote!(::retry_runtime)))
    }

    /// Imports the runtime's internals under a short name, because a loop full of absolute paths would be unreadable.
    pub(crate) fn import(&self) -> TokenStream {
        let name = Ident::new(RUNTIME, Span::call_site());
        quote!(use #self::macro_support as #name;)
    }
}

impl ToTokens for RuntimePath {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}
