//! Faster-compiling replacements for `quote!`, and helpers for tokens.

use std::vec;

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::Path;

/// Code with call-site hygiene. `#local` and `#(expression)` insert values. The braces after `#?(condition)` are only
/// emitted if the condition holds, but their values are always computed. Expands to a text and a list of values
/// instead of a call for each token as in `quote!`, so it compiles much faster.
macro_rules! code {
    ($($tokens:tt)*) => {
        crate::tokens::code_at!(proc_macro2::Span::call_site()=> $($tokens)*)
    };
}

/// [`code!`] with another span.
macro_rules! code_at {
    ($span:expr $(, $path:expr)? => $($tokens:tt)*) => {{
        #[allow(unused_mut)]
        let mut values = Vec::new();
        crate::tokens::each_value!(values (@ $($tokens)*) ($($tokens)* @));
        crate::tokens::fill_template(stringify!($($tokens)*), values, &[$span $(, $path)?])
    }};
}

/// Code with mixed-site hygiene. Its local variables don't clash with the user's.
macro_rules! ours {
    ($($tokens:tt)*) => {
        crate::tokens::code_at!(proc_macro2::Span::mixed_site()=> $($tokens)*)
    };
}

/// [`ours!`] with the location of a span in the user's code.
macro_rules! ours_at {
    ($span:expr=> $($tokens:tt)*) => {
        crate::tokens::code_at!(proc_macro2::Span::mixed_site().located_at($span), $span=> $($tokens)*)
    };
}

/// Visits each token together with the previous one.
macro_rules! each_value {
    ($values:ident ($($before:tt)*) ($($token:tt)*)) => {
        $(crate::tokens::value!($values $before $token);)*
    };
}

macro_rules! value {
    ($values:ident # $value:ident) => {
        crate::tokens::push_value(&mut $values, &$value)
    };
    ($values:ident # ($value:expr)) => {
        crate::tokens::push_value(&mut $values, &$value)
    };
    ($values:ident ? ($is_there:expr)) => {
        crate::tokens::push_value(&mut $values, &$is_there.then_some(true))
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

pub(crate) use {code, code_at, each_value, ours, ours_at, value};

/// Adds a value to a list.
pub(crate) fn push_value(values: &mut Vec<TokenStream>, value: &dyn ToTokens) {
    values.push(value.to_token_stream());
}

/// Printed code.
pub(crate) type Code = TokenStream;

/// Builds the code of [`code_at!`] from its text and values.
pub(crate) fn fill_template(text: &'static str, values: Vec<TokenStream>, spans: &[Span]) -> Code {
    let text = lex(text);
    let path = spans.get(1).map(|user| Span::call_site().located_at(*user));
    let path = path.unwrap_or(spans[0]);
    interpolate(text, &mut values.into_iter(), spans[0], path)
}

/// Uses the compiler's own lexer: `proc_macro2` would first check the text itself, which takes ten times as long.
#[cfg(not(test))]
fn lex(text: &str) -> TokenStream {
    let text: proc_macro::TokenStream = text.parse().expect("the tokens of a macro");
    text.into()
}

/// Lexes each text once per thread, because tests expand thousands of programs.
#[cfg(test)]
fn lex(text: &'static str) -> TokenStream {
    use std::cell::RefCell;
    use std::collections::HashMap;

    thread_local! {
        static LEXED: RefCell<HashMap<&'static str, TokenStream>> = RefCell::default();
    }
    let lex = || text.parse().expect("the tokens of a macro");
    LEXED.with_borrow_mut(|lexed| lexed.entry(text).or_insert_with(lex).clone())
}

/// Paths to the runtime get the span `path`, because the compiler reports an unsatisfied bound at the path instead of
/// the attribute. Paths in arguments don't. Otherwise, the error would be reported twice.
fn interpolate(
    text: TokenStream,
    values: &mut vec::IntoIter<TokenStream>,
    span: Span,
    path: Span,
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
                let content = interpolate(content.stream(), values, span, path);
                value = if value.is_empty() { value } else { content };
            }
            // Added as a whole. Otherwise, each token would be copied again for every surrounding template.
            filled.extend([value]);
            continue;
        }
        if let TokenTree::Group(group) = token {
            let is_braced = group.delimiter() == Delimiter::Brace;
            let path = if is_braced { path } else { span };
            let content = interpolate(group.stream(), values, span, path);
            token = Group::new(group.delimiter(), content).into();
        }
        let is_path = is_ident(&token, RUNTIME);
        token.set_span(if is_path { path } else { span });
        filled.append(token);
    }
    filled
}

/// The name under which expansions import the runtime's internals. Items aren't hygienic, so it is chosen to be
/// unlikely to collide with the user's names. It also identifies a body that was already expanded.
pub(crate) const RUNTIME: &str = "__retry";

pub(crate) fn if_else(is_first: bool, first: Code, second: Code) -> Code {
    if is_first { first } else { second }
}

/// The outermost tokens of a stream.
pub(crate) fn to_vec(tokens: TokenStream) -> Vec<TokenTree> {
    tokens.into_iter().collect()
}

/// The tokens as a stream.
pub(crate) fn stream(trees: &[TokenTree]) -> TokenStream {
    trees.iter().cloned().collect()
}

/// Braces with the given content and span.
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

/// A function called for each token. Takes the tokens before it, and the token with all tokens after it.
type Visitor<'a, T> = dyn FnMut(&[TokenTree], &[TokenTree]) -> Option<T> + 'a;

/// The first result of `visit` for a token, including those in groups.
pub(crate) fn find<T>(tokens: TokenStream, visit: &mut Visitor<'_, T>) -> Option<T> {
    let tokens = to_vec(tokens);
    for at in 0..tokens.len() {
        let (before, from) = tokens.split_at(at);
        let found = match (visit(before, from), &from[0]) {
            (None, TokenTree::Group(group)) => find(group.stream(), visit),
            (found, _) => found,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// True if any token meets the condition, including those in groups. The condition takes the same arguments as in
/// [`find`].
pub(crate) fn any(
    tokens: TokenStream,
    is_match: &mut dyn FnMut(&[TokenTree], &[TokenTree]) -> bool,
) -> bool {
    find(tokens, &mut |before, from| {
        is_match(before, from).then_some(())
    })
    .is_some()
}

/// True if the tokens contain this name.
pub(crate) fn mentions(tokens: TokenStream, name: &str) -> bool {
    any(tokens, &mut |_, from| is_ident(&from[0], name))
}

/// True if a word is in a space-separated list.
pub(crate) fn is_among(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// A path or a type as messages show it.
pub(crate) fn shown(tokens: &dyn ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(' ', "")
}

/// True if the last segment of a path is one of the names.
pub(crate) fn ends_with(path: &Path, names: &[&str]) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| names.iter().any(|name| last.ident == name))
}

/// The first use of this name, except as a field.
pub(crate) fn find_use(tokens: TokenStream, name: &str) -> Option<TokenTree> {
    let is = |token: Option<&TokenTree>, char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char && punct.spacing() == Spacing::Alone);
    find(tokens, &mut |before, from| {
        let is_field = is(before.last(), '.') || is(from.get(1), ':');
        (is_ident(&from[0], name) && !is_field).then(|| from[0].clone())
    })
}

/// The methods of `Attempt` and `GaveUp` that don't need the time.
const TIMELESS: &str = "advance attempts call_id corrections error errors into_error into_errors \
    into_last_value is_last last_error last_item last_value max number position reason \
    rejected yielded";

/// True if the tokens may read the time from an `Attempt` or a `GaveUp` of this name.
pub(crate) fn asks_time(tokens: TokenStream, name: &Ident) -> bool {
    calls_other_method(tokens, name, TIMELESS)
}

/// True if the tokens may report progress to an `Attempt` of this name.
pub(crate) fn reports_progress(tokens: TokenStream, name: &Ident) -> bool {
    calls_other_method(tokens, name, &format!("{TIMELESS} elapsed errors_left_out"))
}

/// True if any method that is not in `known` may be called on a variable. This includes passing the variable itself to
/// other code, even to a format string.
fn calls_other_method(tokens: TokenStream, name: &Ident, known: &str) -> bool {
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

/// The path to the runtime crate, from the key `crate` or the default.
pub(crate) fn runtime(named: Option<TokenStream>) -> TokenStream {
    named.unwrap_or_else(|| quote!(::retry_runtime))
}

/// Imports the runtime's internals under a short name, because a loop full of absolute paths would be unreadable.
pub(crate) fn import(runtime: &TokenStream) -> TokenStream {
    let name = Ident::new(RUNTIME, Span::call_site());
    quote!(use #runtime::macro_support as #name;)
}
