//! Parses an attribute's tokens into arguments, which keep their spans.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::ToTokens;
use retry_vocabulary::key::{Key, KeyScope, Owner, ValueType};
use retry_vocabulary::messages;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, Path, Token, TypeParam, parenthesized, token};

use crate::attribute::argument::{Argument, Arguments, KeyValue};
use crate::errors::error;

impl Arguments {
    pub(crate) fn parse(tokens: TokenStream) -> Self {
        let mut arguments = Self::default();
        let Some(last) = tokens.clone().into_iter().last() else {
            return arguments;
        };
        // Gives the closing parenthesis the last token's span, so that "unexpected end of input" points there.
        let mut whole = Group::new(Delimiter::Parenthesis, tokens);
        whole.set_span(last.span());
        if let Err(error) = (|input: ParseStream| {
            let content;
            parenthesized!(content in input);
            arguments.parse_all(&content, KeyScope::Attribute);
            Ok(())
        })
        .parse2(whole.into_token_stream())
        {
            arguments.errors.push(error);
        }
        arguments
    }

    /// Continues after an error, so that all errors are reported together.
    fn parse_all(&mut self, input: ParseStream, scope: KeyScope) {
        while !input.is_empty() {
            let read = self.parse_argument(input, scope);
            let ended = read.and_then(|()| {
                let error = || input.error("expected `,`");
                is_at_end(input).then_some(()).ok_or_else(error)
            });
            if let Err(error) = ended {
                self.errors.push(error);
                skip_to_next(input);
            }
            let _: Option<Token![,]> = input.parse().ok();
        }
    }

    /// Adds one argument.
    fn parse_argument(&mut self, input: ParseStream, scope: KeyScope) -> syn::Result<()> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected a key, as in `max = 5`"));
        }
        let ident = input.call(Ident::parse_any)?;
        let name = ident.to_string();
        let Some(key) = scope.find(&name) else {
            return Err(unknown_key(&ident, &value_text(&input.fork()), scope));
        };
        let implied = match key {
            Key::Budget | Key::Timeout => Some(KeyValue::NoValue),
            key => KeyValue::dummy(key),
        };
        let (value, span, error) = match implied {
            _ if key.is_section() => {
                let (value, span) = self.parse_section(key, &ident, input)?;
                (value, span, None)
            }
            _ if key.value_type() == ValueType::Nothing => {
                refuse_value(key, input)?;
                (KeyValue::NoValue, ident.span(), None)
            }
            Some(implied) if is_at_end(input) => (implied, ident.span(), None),
            _ => match (parse_value(key, &ident, input), KeyValue::dummy(key)) {
                (Ok((value, span)), _) => (value, span, None),
                (Err(error), Some(value)) => (value, ident.span(), Some(error)),
                (Err(error), None) => return Err(error),
            },
        };
        self.given.push(Argument {
            key,
            ident,
            value,
            span,
        });
        error.map_or(Ok(()), Err)
    }

    /// The parentheses of a section.
    fn parse_section(
        &mut self,
        key: Key,
        ident: &Ident,
        input: ParseStream,
    ) -> syn::Result<(KeyValue, Span)> {
        if !input.peek(token::Paren) {
            return Err(error!(ident.span() =>
                "`{key}` takes keys in parentheses, as in `{key}(max = 5)`"));
        }
        let content;
        let span = parenthesized!(content in input).span.join();
        let mut section = Self::default();
        section.parse_all(&content, KeyScope::Section(key));
        self.errors.append(&section.errors);
        Ok((KeyValue::Section(section.given), span))
    }
}

/// A value and its span.
type ParsedValue = syn::Result<(KeyValue, Span)>;

/// The value after `=` or in parentheses.
fn parse_value(key: Key, ident: &Ident, input: ParseStream) -> ParsedValue {
    if let Some(sign) = parse_wrong_sign(input)? {
        let (written, example) = (sign.to_string(), key.example());
        return Err(error!(in sign =>
            "expected `=` after `{key}`, not `{written}`: write `{example}`, for example"));
    }
    if input.parse::<Option<Token![=]>>()?.is_some() {
        return parse_bare_value(key, input);
    }
    if !input.peek(token::Paren) {
        return Err(missing_value(key, ident.span()));
    }
    let content;
    let span = parenthesized!(content in input).span.join();
    let value = match key.value_type() {
        ValueType::Names(what) => {
            let names = content.call(|input| input.parse_terminated(Ident::parse_any, Token![,]));
            match names {
                Ok(names) if names.is_empty() => Err(grammar_error(key, what, span)),
                Ok(names) => Ok((KeyValue::Names(names.into_iter().collect()), span)),
                Err(error) => Err(grammar_error(key, what, error.span())),
            }
        }
        _ => match parse_bare_value(key, &content) {
            Ok(_) if !content.is_empty() => {
                Err(content.error(format!("`{key}` takes exactly one value")))
            }
            value => value,
        },
    };
    // Consumes the rest. Otherwise, `syn` would report unread tokens instead of the actual error.
    while !content.is_empty() {
        let _: syn::Result<TokenTree> = content.parse();
    }
    value
}

fn parse_bare_value(key: Key, input: ParseStream) -> ParsedValue {
    match key.value_type() {
        takes @ (ValueType::Name(what) | ValueType::Names(what) | ValueType::Wrapper(what)) => {
            let name = match takes {
                ValueType::Names(_) => input.call(Ident::parse_any),
                _ => input.parse(),
            };
            let name = name.map_err(|error| grammar_error(key, what, error.span()))?;
            let span = name.span();
            let value = match takes {
                ValueType::Names(_) => KeyValue::Names(vec![name]),
                ValueType::Wrapper(_) if input.peek(Token![<]) => {
                    KeyValue::Wrapper(name, Some(Box::new(parse_type_param(key, input)?)))
                }
                ValueType::Wrapper(_) => KeyValue::Wrapper(name, None),
                _ => {
                    refuse_parameters(key, "name", input)?;
                    KeyValue::Name(name)
                }
            };
            if input.peek(Token![::]) || input.peek(Token![.]) || input.peek(token::Paren) {
                return Err(grammar_error(key, what, span));
            }
            Ok((value, span))
        }
        ValueType::Paths => parse_paths(key, input),
        ValueType::Path => {
            let path = Path::parse_mod_style(input);
            let path = path.map_err(|error| grammar_error(key, "a path", error.span()))?;
            refuse_parameters(key, "path", input)?;
            Ok((KeyValue::Path(path.to_token_stream()), path.span()))
        }
        _ if is_at_end(input) => Err(missing_value(key, input.span())),
        _ => {
            let ahead = input.fork();
            let expr =
                Expr::parse(input).map_err(|error| percent_error(key, &ahead).unwrap_or(error))?;
            let span = expr.span();
            Ok((KeyValue::from_expr(key, expr)?, span))
        }
    }
}

/// The error for a ratio such as `20%`.
fn percent_error(key: Key, input: ParseStream) -> Option<syn::Error> {
    let number: Literal = input.parse().ok()?;
    let is_per_cent = key.value_type() == ValueType::Jitter && input.peek(Token![%]);
    let ratio = number.to_string().parse::<f64>().ok()? / 100.0;
    is_per_cent.then(|| {
        error!(number.span() =>
            "`{key}` takes a ratio from 0 to 1, not a percentage: write `{ratio}`")
    })
}

fn missing_value(key: Key, span: Span) -> syn::Error {
    let example = key.example();
    let or = match key {
        Key::Policy => {
            "; to pass a policy when the decorator is created, remove `policy` and use `with_policy`"
        }
        _ => "",
    };
    error!(span => "`{key}` needs a value, as in `{example}`{or}")
}

/// The error for a value that doesn't match its key's grammar.
fn grammar_error(key: Key, what: &str, span: Span) -> syn::Error {
    let example = key.example();
    error!(span =>
        "`{key}` takes {what}, as in `{example}`")
}

/// The single type parameter in angle brackets.
fn parse_type_param(key: Key, input: ParseStream) -> syn::Result<TypeParam> {
    let example = key.example();
    let message = format!(
        "`{key}` takes one type parameter, for the wrapped client, as in `{example}<C: Clone>`: the trait's own parameters are taken from its declaration"
    );
    let bracket = input.parse::<Token![<]>()?;
    let parameter: TypeParam = input
        .parse()
        .map_err(|error| syn::Error::new(error.span(), &message))?;
    let end = input.parse::<Token![>]>();
    if end.is_err() || parameter.default.is_some() {
        return Err(syn::Error::new(bracket.span, message));
    }
    Ok(parameter)
}

/// `[Box, Arc]`
fn parse_paths(key: Key, input: ParseStream) -> ParsedValue {
    let wrong = |span| grammar_error(key, "a list of paths", span);
    let span = input.span();
    let list = match input.parse() {
        Ok(TokenTree::Group(list)) if list.delimiter() == Delimiter::Bracket => list,
        _ => return Err(wrong(span)),
    };
    let paths = |input: ParseStream| input.parse_terminated(Path::parse_mod_style, Token![,]);
    let paths = paths.parse2(list.stream());
    let paths = paths.map_err(|error| wrong(error.span()))?;
    if paths.is_empty() {
        return Err(wrong(list.span()));
    }
    Ok((KeyValue::Paths(paths.into_iter().collect()), list.span()))
}

/// Rejects a value after a key that takes none.
fn refuse_value(key: Key, input: ParseStream) -> syn::Result<()> {
    if is_at_end(input) {
        return Ok(());
    }
    let example = key.example();
    Err(input.error(format!("`{key}` takes no value: write `{example}`")))
}

/// Rejects angle brackets.
fn refuse_parameters(key: Key, what: &str, input: ParseStream) -> syn::Result<()> {
    if !input.peek(Token![<]) {
        return Ok(());
    }
    let why = match key.owner() {
        Owner::Trait => ": the trait's own parameters are taken from its declaration",
        _ => "",
    };
    let example = key.example();
    Err(input.error(format!(
        "`{key}` takes a {what} without parameters, as in `{example}`{why}"
    )))
}

/// A wrong sign instead of `=`: `==`, `=>` or `:`.
fn parse_wrong_sign(input: ParseStream) -> syn::Result<Option<TokenStream>> {
    let length = if input.peek(Token![==]) || input.peek(Token![=>]) {
        2
    } else if input.peek(Token![:]) && !input.peek(Token![::]) {
        1
    } else {
        return Ok(None);
    };
    let sign = (0..length).map(|_| input.parse::<TokenTree>());
    sign.collect::<syn::Result<_>>().map(Some)
}

/// The value of an unknown key, as written. Empty if there is none.
fn value_text(ahead: ParseStream) -> String {
    let is_assigned = ahead.parse::<Token![=]>().is_ok() || ahead.parse::<Token![:]>().is_ok();
    match ahead.parse::<TokenTree>() {
        Ok(value) if is_assigned => value.to_string(),
        Ok(TokenTree::Group(group)) => group.stream().to_string(),
        _ => String::new(),
    }
}

fn unknown_key(ident: &Ident, value: &str, scope: KeyScope) -> syn::Error {
    let name = ident.to_string();
    if name == messages::SKIP {
        return error!(ident.span() =>
            "`skip` can only be used alone, as `#[retry(skip)]`, on a method in an `impl` or a trait under `#[retry(…)]`: to not retry any other function, remove the attribute");
    }
    syn::Error::new(ident.span(), messages::unknown_key(&name, value, scope))
}

fn is_at_end(input: ParseStream) -> bool {
    input.is_empty() || input.peek(Token![,])
}

/// Skips to the comma before the next argument. A comma inside an unreadable value is recognized because no key
/// follows it.
fn skip_to_next(input: ParseStream) {
    while !input.is_empty() && !is_at_next_key(input) {
        let _: syn::Result<TokenTree> = input.parse();
    }
}

fn is_at_next_key(input: ParseStream) -> bool {
    let ahead = input.fork();
    if ahead.parse::<Token![,]>().is_err() {
        return false;
    }
    let Ok(word) = ahead.call(Ident::parse_any) else {
        return ahead.is_empty();
    };
    // True for a key, and for another library's name for a key.
    let is_key = || {
        let (mut keys, word) = (KeyScope::Attribute.keys(), word.to_string());
        keys.any(|key| key.name() == word || key.is_foreign_name(&word))
    };
    ahead.peek(Token![=]) && !ahead.peek(Token![==])
        || ahead.peek(token::Paren)
        // Closure parameters contain colons and commas, too.
        || (is_at_end(&ahead) || ahead.peek(Token![:]) && !ahead.peek(Token![::])) && is_key()
}
