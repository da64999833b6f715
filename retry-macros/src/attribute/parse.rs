//! Attribute tokens → arguments, each with the tokens that the user wrote.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use retry_vocabulary::complaint;
use retry_vocabulary::key::{Among, Key, Owner, Takes};
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
        // What is missing at the end is missed at the closing parenthesis, which so stands where the last token does.
        let mut whole = Group::new(Delimiter::Parenthesis, tokens);
        whole.set_span(last.span());
        if let Err(error) = (|input: ParseStream| {
            let content;
            parenthesized!(content in input);
            arguments.read(&content, Among::Attribute);
            Ok(())
        })
        .parse2(whole.into_token_stream())
        {
            arguments.errors.push(error);
        }
        arguments
    }

    /// Reads on after an error, so that all mistakes are reported together.
    fn read(&mut self, input: ParseStream, among: Among) {
        while !input.is_empty() {
            match self.one(input, among) {
                Ok(Some(argument)) => self.given.push(argument),
                Ok(None) => {}
                Err(error) => {
                    self.errors.push(error);
                    skip_to_next(input);
                }
            }
            if input.is_empty() {
                break;
            }
            if let Err(error) = input.parse::<Token![,]>() {
                self.errors.push(error);
                skip_to_next(input);
                let _: Option<Token![,]> = input.parse().ok();
            }
        }
    }

    /// One argument; `None` where its key or value is wrong, which is noted.
    fn one(&mut self, input: ParseStream, among: Among) -> syn::Result<Option<Argument>> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected a key, as in `max = 5`"));
        }
        let ident = input.call(Ident::parse_any)?;
        let name = ident.to_string();
        let Some(key) = among.find(&name) else {
            let value = unread_value(&input.fork());
            self.errors.push(unknown(&ident, &value, among));
            skip_to_next(input);
            return Ok(None);
        };
        let (value, span) = if key.is_section() {
            self.section(key, &ident, input)?
        } else if key.takes() == Takes::Nothing {
            stands_alone(key, input)?;
            (KeyValue::Alone, ident.span())
        } else if matches!(key, Key::Budget | Key::Timeout) && is_at_end(input) {
            (KeyValue::Alone, ident.span())
        } else if let (true, Some(value)) = (is_at_end(input), KeyValue::stand_in(key)) {
            (value, ident.span())
        } else {
            let (value, span) = written(key, &ident, input)?;
            match value.or_else(|error| {
                self.errors.push(error);
                KeyValue::stand_in(key).ok_or(())
            }) {
                Ok(value) => (value, span),
                Err(()) => return Ok(None),
            }
        };
        Ok(Some(Argument {
            key,
            ident,
            value,
            span,
        }))
    }

    /// The parentheses of a section.
    fn section(
        &mut self,
        key: Key,
        ident: &Ident,
        input: ParseStream,
    ) -> syn::Result<(KeyValue, Span)> {
        if !input.peek(token::Paren) {
            return Err(error!(ident.span() =>
                "`{key}` takes numbers of its own, as in `{key}(max = 5)`"));
        }
        let content;
        let span = parenthesized!(content in input).span.join();
        let mut section = Self::default();
        section.read(&content, Among::Section(key));
        self.errors.append(&section.errors);
        Ok((KeyValue::Section(section.given), span))
    }
}

/// A value, which may be wrong where its tokens could be read, and where it stands.
type Written = (syn::Result<KeyValue>, Span);

/// What stands after `=` or in parentheses.
fn written(key: Key, ident: &Ident, input: ParseStream) -> syn::Result<Written> {
    if let Some(sign) = other_sign(input)? {
        let (written, example) = (sign.to_string(), key.example());
        let wrong = error!(in sign =>
            "`{key}` takes its value after `=`, not `{written}`, as in `{example}`");
        // The value is read, so that the next key is found.
        return match value(key, input) {
            Ok((_, span)) => Ok((Err(wrong), span)),
            Err(_) => Err(wrong),
        };
    }
    if input.parse::<Option<Token![=]>>()?.is_some() {
        return value(key, input);
    }
    if !input.peek(token::Paren) {
        return Err(needs_value(key, ident.span()));
    }
    let content;
    let span = parenthesized!(content in input).span.join();
    if let Takes::Names(what) = key.takes() {
        let names = |input: ParseStream| input.parse_terminated(Ident::parse_any, Token![,]);
        let names = content.call(names);
        drain(&content);
        let names = names.map_err(|error| wrong(key, what, error.span()))?;
        if names.is_empty() {
            return Err(wrong(key, what, span));
        }
        return Ok((Ok(KeyValue::Names(names.into_iter().collect())), span));
    }
    let value = value(key, &content);
    if content.is_empty() || matches!(value, Ok((Err(_), _))) {
        drain(&content);
        return value;
    }
    let error = content.error(format!("`{key}` takes one value"));
    // Tokens left in parentheses would replace every error by `syn`'s own.
    drain(&content);
    value.and(Err(error))
}

fn value(key: Key, input: ParseStream) -> syn::Result<Written> {
    match key.takes() {
        takes @ (Takes::Name(what) | Takes::Names(what) | Takes::Wrapper(what)) => {
            let name = match takes {
                Takes::Names(_) => input.call(Ident::parse_any),
                _ => input.parse(),
            };
            let name = name.map_err(|error| wrong(key, what, error.span()))?;
            let span = name.span();
            let value = match takes {
                Takes::Names(_) => KeyValue::Names(vec![name]),
                Takes::Wrapper(_) if input.peek(Token![<]) => {
                    KeyValue::Wrapper(name, Some(Box::new(parameter(key, input)?)))
                }
                Takes::Wrapper(_) => KeyValue::Wrapper(name, None),
                _ => {
                    no_parameters(key, "name", input)?;
                    KeyValue::Name(name)
                }
            };
            if input.peek(Token![::]) || input.peek(Token![.]) || input.peek(token::Paren) {
                return Err(wrong(key, what, span));
            }
            Ok((Ok(value), span))
        }
        Takes::Paths => paths(key, input),
        Takes::Path => {
            let path = Path::parse_mod_style(input);
            let path = path.map_err(|error| wrong(key, "a path", error.span()))?;
            no_parameters(key, "path", input)?;
            Ok((Ok(KeyValue::Path(path.to_token_stream())), path.span()))
        }
        _ if is_at_end(input) => Err(needs_value(key, input.span())),
        _ => {
            let ahead = input.fork();
            let expr =
                Expr::parse(input).map_err(|error| per_cent(key, &ahead).unwrap_or(error))?;
            let span = expr.span();
            Ok((KeyValue::of(key, expr), span))
        }
    }
}

/// What is wrong with a ratio such as `20%`.
fn per_cent(key: Key, input: ParseStream) -> Option<syn::Error> {
    let number: Literal = input.parse().ok()?;
    let is_per_cent = key.takes() == Takes::Jitter && input.peek(Token![%]);
    is_per_cent.then(|| {
        error!(number.span() =>
            "`{key}` takes a ratio from 0 to 1, not per cent: write `0.2` for 20 %")
    })
}

fn needs_value(key: Key, span: Span) -> syn::Error {
    let example = key.example();
    let or = match key {
        Key::Policy => {
            "; to give a decorator its policy when it is made, remove `policy` and use `with_policy`"
        }
        _ => "",
    };
    error!(span => "`{key}` needs a value, as in `{example}`{or}")
}

/// What is wrong with a value that is read by a grammar of its own.
fn wrong(key: Key, what: &str, span: Span) -> syn::Error {
    let example = key.example();
    error!(span =>
        "`{key}` takes {what}, as in `{example}`")
}

/// The one parameter in angle brackets.
fn parameter(key: Key, input: ParseStream) -> syn::Result<TypeParam> {
    let example = key.example();
    let message = format!(
        "`{key}` takes one type parameter, for what is wrapped, as in `{example}<C: Clone>`: what the trait is generic over is read from its declaration"
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
fn paths(key: Key, input: ParseStream) -> syn::Result<Written> {
    let wrong = |span| wrong(key, "a list of paths", span);
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
    Ok((
        Ok(KeyValue::Paths(paths.into_iter().collect())),
        list.span(),
    ))
}

/// Refuses a value after a key that takes none.
fn stands_alone(key: Key, input: ParseStream) -> syn::Result<()> {
    if is_at_end(input) {
        return Ok(());
    }
    let example = key.example();
    Err(input.error(format!("`{key}` stands alone, as in `{example}`")))
}

/// Refuses what stands in angle brackets.
fn no_parameters(key: Key, what: &str, input: ParseStream) -> syn::Result<()> {
    if !input.peek(Token![<]) {
        return Ok(());
    }
    let why = match key.owner() {
        Owner::Trait => ": what the trait is generic over is read from its declaration",
        _ => "",
    };
    let example = key.example();
    Err(input.error(format!(
        "`{key}` takes a {what} alone, as in `{example}`{why}"
    )))
}

/// What stands for `=`: `==`, `=>` or `:`.
fn other_sign(input: ParseStream) -> syn::Result<Option<TokenStream>> {
    let length = if input.peek(Token![==]) || input.peek(Token![=>]) {
        2
    } else if input.peek(Token![:]) && !input.peek(Token![::]) {
        1
    } else {
        return Ok(None);
    };
    let mut sign = TokenStream::new();
    for _ in 0..length {
        sign.append(input.parse::<TokenTree>()?);
    }
    Ok(Some(sign))
}

/// The value of a key that is not known, as written: empty where there is none.
fn unread_value(ahead: ParseStream) -> String {
    if ahead.parse::<Token![=]>().is_ok() || ahead.parse::<Token![:]>().is_ok() {
        return ahead
            .parse()
            .map_or_else(|_| String::new(), |value: TokenTree| value.to_string());
    }
    match ahead.parse() {
        Ok(TokenTree::Group(group)) => group.stream().to_string(),
        _ => String::new(),
    }
}

fn unknown(ident: &Ident, value: &str, among: Among) -> syn::Error {
    let name = ident.to_string();
    if name == complaint::SKIP {
        let message = "`skip` stands alone, on a method in an `impl` or a trait under `#[retry(…)]`: a function that is not to be retried needs no attribute";
        return syn::Error::new(ident.span(), message);
    }
    syn::Error::new(ident.span(), complaint::unknown_key(&name, value, among))
}

fn is_at_end(input: ParseStream) -> bool {
    input.is_empty() || input.peek(Token![,])
}

fn drain(input: ParseStream) {
    while !input.is_empty() {
        let _: syn::Result<TokenTree> = input.parse();
    }
}

/// Leaves the comma, if any, as the next token. A comma inside an unreadable value can't be told from one between
/// arguments, unless no key follows it.
fn skip_to_next(input: ParseStream) {
    while !input.is_empty() && !at_next(input) {
        let _: syn::Result<TokenTree> = input.parse();
    }
}

fn at_next(input: ParseStream) -> bool {
    let ahead = input.fork();
    if ahead.parse::<Token![,]>().is_err() {
        return false;
    }
    let Ok(word) = ahead.call(Ident::parse_any) else {
        return ahead.is_empty();
    };
    ahead.peek(Token![=]) && !ahead.peek(Token![==])
        || ahead.peek(token::Paren)
        // Parameters of closures have colons, too.
        || ahead.peek(Token![:]) && !ahead.peek(Token![::]) && is_key(&word.to_string())
}

/// Whether it is a key, or another library's word for one.
fn is_key(word: &str) -> bool {
    let mut keys = Among::Attribute.keys();
    keys.any(|key| key.name() == word || key.is_elsewhere(word))
}
