//! How code is put together from tokens.

use std::vec;

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::Path;

/// Code from the call site, with values where it says `#local` or `#(expression)`. What stands in braces after
/// `#?(condition)` is there if that holds; its values are computed in any case. In place of `quote!`'s call for each token
/// the compiler sees a text and a list of values, which takes it a fraction of the time.
macro_rules! code {
    ($($tokens:tt)*) => {
        crate::tokens::code_at!(proc_macro2::Span::call_site()=> $($tokens)*)
    };
}

/// [`code!`] with another span.
macro_rules! code_at {
    ($span:expr=> $($tokens:tt)*) => {
        crate::tokens::filled!(fill_at [$span] $($tokens)*)
    };
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
        crate::tokens::filled!(fill_ours_at [$span] $($tokens)*)
    };
}

macro_rules! filled {
    ($fill:ident [$span:expr] $($tokens:tt)*) => {{
        #[allow(unused_mut)]
        let mut values = Vec::new();
        crate::tokens::each_value!(values (@ $($tokens)*) ($($tokens)* @));
        crate::tokens::$fill(stringify!($($tokens)*), values, $span)
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
        crate::tokens::add(&mut $values, &$value)
    };
    ($values:ident # ($value:expr)) => {
        crate::tokens::add(&mut $values, &$value)
    };
    ($values:ident ? ($is_there:expr)) => {
        crate::tokens::add(&mut $values, &$is_there.then_some(true))
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

pub(crate) use {code, code_at, each_value, filled, ours, ours_at, value};

/// Adds a value to a list.
pub(crate) fn add(values: &mut Vec<TokenStream>, value: &dyn ToTokens) {
    values.push(value.to_token_stream());
}

/// Printed code.
pub(crate) type Code = TokenStream;

/// What [`code_at!`] makes of a text and its values.
pub(crate) fn fill_at(text: &str, values: Vec<TokenStream>, span: Span) -> Code {
    with_values(parsed(text), &mut values.into_iter(), span)
}

/// The compiler's own lexer reads a text. `proc_macro2` would read it beforehand, to see whether that can fail, and take
/// ten times as long.
fn parsed(text: &str) -> TokenStream {
    const TOKENS: &str = "the tokens of a macro";
    if proc_macro::is_available() {
        let text: proc_macro::TokenStream = text.parse().expect(TOKENS);
        return text.into();
    }
    text.parse().expect(TOKENS)
}

/// What [`ours_at!`] makes of a text and its values. The compiler says of a bound that does not hold where the path into the
/// runtime stands, not where the attribute does: such paths come from the call site.
pub(crate) fn fill_ours_at(text: &str, values: Vec<TokenStream>, span: Span) -> Code {
    let span = Span::mixed_site().located_at(span);
    with_import_at_call_site(fill_at(text, values, span))
}

fn with_values(
    text: TokenStream,
    values: &mut vec::IntoIter<TokenStream>,
    span: Span,
) -> TokenStream {
    let mut filled = TokenStream::new();
    let mut text = text.into_iter().peekable();
    while let Some(mut token) = text.next() {
        let is_value = match text.peek() {
            Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
            Some(TokenTree::Punct(punct)) => punct.as_char() == '?',
            next => matches!(next, Some(TokenTree::Ident(_))),
        };
        if is_value && is_punct(&token, '#') {
            let is_condition = matches!(text.next(), Some(TokenTree::Punct(_)));
            let mut value = values.next().expect("a value for each `#`");
            let content = if is_condition { text.nth(1) } else { None };
            if let Some(TokenTree::Group(content)) = content {
                let content = with_values(content.stream(), values, span);
                value = if value.is_empty() { value } else { content };
            }
            // As a whole: token by token, each would be copied once for every template around it.
            filled.extend([value]);
            continue;
        }
        if let TokenTree::Group(group) = token {
            let content = with_values(group.stream(), values, span);
            token = Group::new(group.delimiter(), content).into();
        }
        token.set_span(span);
        filled.append(token);
    }
    filled
}

fn with_import_at_call_site(tokens: TokenStream) -> TokenStream {
    mapped(tokens, &mut |token| match token {
        TokenTree::Ident(mut ident) if ident == RUNTIME => {
            ident.set_span(Span::call_site().located_at(ident.span()));
            TokenTree::Ident(ident)
        }
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            with_content(&group, with_import_at_call_site(group.stream())).into()
        }
        token => token,
    })
}

/// What expansions call the runtime's internals. Items have no hygiene, so the user's code sees the name, too: hence one
/// that nobody else uses. It also tells that a body was already expanded.
pub(crate) const RUNTIME: &str = "__retry";

/// Code that stands there under a condition.
pub(crate) fn when(is_there: bool, code: Code) -> Code {
    if_else(is_there, code, Code::new())
}

/// Code for either case.
pub(crate) fn if_else(is_first: bool, first: Code, second: Code) -> Code {
    if is_first { first } else { second }
}

/// A stream with other tokens in place of its own, without looking into groups.
pub(crate) fn mapped(
    tokens: TokenStream,
    map: &mut dyn FnMut(TokenTree) -> TokenTree,
) -> TokenStream {
    tokens.into_iter().map(map).collect()
}

/// The outermost tokens of a stream.
pub(crate) fn trees(tokens: TokenStream) -> Vec<TokenTree> {
    tokens.into_iter().collect()
}

/// The stream of tokens that stand side by side.
pub(crate) fn stream(trees: &[TokenTree]) -> TokenStream {
    trees.iter().cloned().collect()
}

/// Braces in the user's code, or where such would be.
pub(crate) fn braces(content: TokenStream, span: Span) -> Group {
    let mut braces = Group::new(Delimiter::Brace, content);
    braces.set_span(span);
    braces
}

/// A group of the same kind and span with other content.
pub(crate) fn with_content(group: &Group, content: TokenStream) -> Group {
    let mut with = Group::new(group.delimiter(), content);
    with.set_span(group.span());
    with
}

pub(crate) fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

pub(crate) fn is_ident(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == name)
}

/// A question about a token. It gets the tokens before it, and the token with all after it.
type Question<'a, T> = dyn FnMut(&[TokenTree], &[TokenTree]) -> Option<T> + 'a;

/// The first answer about a token, groups' content included.
pub(crate) fn find<T>(tokens: TokenStream, ask: &mut Question<'_, T>) -> Option<T> {
    let tokens = trees(tokens);
    for at in 0..tokens.len() {
        let (before, from) = tokens.split_at(at);
        let found = match (ask(before, from), &from[0]) {
            (None, TokenTree::Group(group)) => find(group.stream(), ask),
            (found, _) => found,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Whether any token is meant, groups' content included. Each is shown as by [`find`].
pub(crate) fn any(
    tokens: TokenStream,
    is_meant: &mut dyn FnMut(&[TokenTree], &[TokenTree]) -> bool,
) -> bool {
    find(tokens, &mut |before, from| {
        is_meant(before, from).then_some(())
    })
    .is_some()
}

/// Whether the name stands anywhere among the tokens.
pub(crate) fn mentions(tokens: TokenStream, name: &str) -> bool {
    any(tokens, &mut |_, from| is_ident(&from[0], name))
}

/// Whether a word is in a list of words with spaces between them.
pub(crate) fn is_among(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// A path or a type as messages show it.
pub(crate) fn shown(tokens: &dyn ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(' ', "")
}

/// Whether one of the names is that of the last segment of a path.
pub(crate) fn ends_with(path: &Path, names: &[&str]) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| names.iter().any(|name| last.ident == name))
}

/// Whether the name stands among the tokens, not as that of a field.
pub(crate) fn uses(tokens: TokenStream, name: &str) -> bool {
    let is = |token: Option<&TokenTree>, char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char && punct.spacing() == Spacing::Alone);
    any(tokens, &mut |before, from| {
        let is_field = is(before.last(), '.') || is(from.get(1), ':');
        is_ident(&from[0], name) && !is_field
    })
}

/// The methods of `Attempt` and `GaveUp` that don't tell the time.
const TIMELESS: &str = "advance attempts call_id corrections error errors into_error into_errors \
    into_last_value is_last last_error last_item last_value max number position reason \
    rejected yielded";

/// Whether an `Attempt` or a `GaveUp` of that name may be asked for the time.
pub(crate) fn asks_time(tokens: TokenStream, name: &Ident) -> bool {
    calls_other(tokens, name, TIMELESS)
}

/// Whether an `Attempt` of that name may be told of progress.
pub(crate) fn tells_progress(tokens: TokenStream, name: &Ident) -> bool {
    calls_other(tokens, name, &format!("{TIMELESS} elapsed errors_left_out"))
}

/// Whether any other method may be called on what has that name. If it is passed on as a whole, even into a format
/// string, it may be.
fn calls_other(tokens: TokenStream, name: &Ident, known: &str) -> bool {
    let captured = format!("{{{name}");
    any(tokens, &mut |_, from| match from {
        [TokenTree::Ident(ident), dot, TokenTree::Ident(method), ..] if is_punct(dot, '.') => {
            ident == name && !is_among(known, &method.to_string())
        }
        [TokenTree::Ident(ident), ..] => ident == name,
        [TokenTree::Literal(text), ..] => text.to_string().contains(&captured),
        _ => false,
    })
}

/// The path to the runtime crate, which the key `crate` may name.
pub(crate) fn runtime(named: Option<TokenStream>) -> TokenStream {
    named.unwrap_or_else(|| quote!(::retry_runtime))
}

/// Imports the runtime's internals under a short name, because a loop full of absolute paths would be unreadable.
pub(crate) fn import(runtime: &TokenStream) -> TokenStream {
    let name = Ident::new(RUNTIME, Span::call_site());
    quote!(use #runtime::macro_support as #name;)
}
