//! Attribute tokens → arguments, each with the tokens that the user wrote.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, Path, Token, parenthesized, token};

use crate::argument::{Argument, Value};
use crate::key::Key;
use crate::literal;
use crate::nearest;

/// The arguments of one attribute, and all that was wrong with them.
#[derive(Clone, Default)]
pub(crate) struct Arguments {
    pub(crate) given: Vec<Argument>,
    pub(crate) errors: Vec<syn::Error>,
}

impl Arguments {
    pub(crate) fn parse(tokens: TokenStream) -> Self {
        let parse = |input: ParseStream| Ok(Self::of(input, Key::ALL, None));
        parse.parse2(tokens).unwrap_or_else(|error| Self {
            errors: vec![error],
            ..Self::default()
        })
    }

    /// Reads on after an error, so that all mistakes are reported together.
    fn of(input: ParseStream, known: &[Key], section: Option<Key>) -> Self {
        let mut arguments = Self::default();
        while !input.is_empty() {
            match arguments.one(input, known, section) {
                Ok(Some(argument)) => arguments.given.push(argument),
                Ok(None) => {}
                Err(error) => {
                    arguments.errors.push(error);
                    skip_to_next(input);
                }
            }
            if input.is_empty() {
                break;
            }
            if let Err(error) = input.parse::<Token![,]>() {
                arguments.errors.push(error);
                skip_to_next(input);
                let _: Option<Token![,]> = input.parse().ok();
            }
        }
        arguments
    }

    /// The arguments of a block for one of its members: the member's own in place of the block's, key by key,
    /// in sections too.
    pub(crate) fn for_member(&self, own: Self, member: &Ident) -> Self {
        let mut given = Vec::new();
        for argument in &self.given {
            if own.given.iter().any(|own| own.replaces(argument.key)) {
                continue;
            }
            let mut argument = argument.clone();
            if argument.key == Key::Name {
                argument.append(member);
            }
            given.push(argument);
        }
        for argument in own.given {
            let below = given.iter_mut().find(|below| below.key == argument.key);
            match below {
                Some(below) => below.merge(argument),
                None => given.push(argument),
            }
        }
        Self {
            given,
            errors: Vec::new(),
        }
    }

    pub(crate) fn get(&self, key: Key) -> Option<&Argument> {
        self.given.iter().find(|argument| argument.key == key)
    }

    pub(crate) fn value(&self, key: Key) -> Option<&Value> {
        self.get(key).map(|argument| &argument.value)
    }

    /// One argument; `None` where its key is unknown, which is noted.
    fn one(
        &mut self,
        input: ParseStream,
        known: &[Key],
        section: Option<Key>,
    ) -> syn::Result<Option<Argument>> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected a key, as in `max = 5`"));
        }
        let ident = input.call(Ident::parse_any)?;
        let name = ident.to_string();
        let Some(&key) = known.iter().find(|key| key.name() == name) else {
            self.errors.push(unknown(&ident, known, section));
            skip_to_next(input);
            return Ok(None);
        };
        let value;
        let span;
        if Key::SECTIONS.contains(&key) {
            if !input.peek(token::Paren) {
                let message = format!("`{key}` takes numbers of its own, as in `{key}(max = 5)`");
                return Err(syn::Error::new(ident.span(), message));
            }
            let content;
            span = parenthesized!(content in input).span.join();
            let mut inner = Self::of(&content, Key::OF_SECTION, Some(key));
            self.errors.append(&mut inner.errors);
            value = Value::Section(inner.given);
        } else if key == Key::Stream && (input.is_empty() || input.peek(Token![,])) {
            span = ident.span();
            value = Value::Word("first", TokenStream::new());
        } else {
            let content;
            let from = if input.peek(token::Paren) {
                parenthesized!(content in input);
                &content
            } else if input.parse::<Token![=]>().is_ok() {
                input
            } else {
                return Err(syn::Error::new(
                    ident.span(),
                    format!("`{key}` needs a value, as in `{}`", literal::example(key)),
                ));
            };
            let written = Written::parse(key, from);
            if !std::ptr::eq(from, input) && !from.is_empty() {
                let error = from.error(format!("`{key}` takes one value"));
                // Tokens left in parentheses would replace every error by `syn`'s own.
                drain(from);
                written?;
                return Err(error);
            }
            let written = written?;
            span = written.span();
            match written.value(key) {
                Ok(checked) => value = checked,
                Err(error) => {
                    self.errors.push(error);
                    // That the function returns a stream is not to be complained about as well.
                    if key != Key::Stream {
                        return Ok(None);
                    }
                    value = Value::Word("first", TokenStream::new());
                }
            }
        }
        Ok(Some(Argument {
            key,
            ident,
            value,
            span,
        }))
    }
}

/// A value before it is checked.
enum Written {
    Name(Ident),
    Path(Path),
    Expr(Expr),
}

impl Written {
    fn parse(key: Key, input: ParseStream) -> syn::Result<Self> {
        match key {
            Key::Attempt | Key::Wrapper => {
                let name = input.parse().map_err(|error| {
                    let what = match key {
                        Key::Attempt => "the name that the body uses",
                        _ => "a name",
                    };
                    let message =
                        format!("`{key}` takes {what}, as in `{}`", literal::example(key));
                    syn::Error::new(error.span(), message)
                })?;
                no_parameters(key, "name", input)?;
                Ok(Self::Name(name))
            }
            Key::Crate | Key::Of => {
                let path = Path::parse_mod_style(input).map_err(|error| {
                    let message =
                        format!("`{key}` takes a path, as in `{}`", literal::example(key));
                    syn::Error::new(error.span(), message)
                })?;
                no_parameters(key, "path", input)?;
                Ok(Self::Path(path))
            }
            _ if input.is_empty() || input.peek(Token![,]) => Err(syn::Error::new(
                input.span(),
                format!("`{key}` needs a value, as in `{}`", literal::example(key)),
            )),
            _ => Expr::parse(input).map(Self::Expr),
        }
    }

    fn span(&self) -> Span {
        match self {
            Self::Name(name) => name.span(),
            Self::Path(path) => path.span(),
            Self::Expr(expr) => expr.span(),
        }
    }

    fn value(self, key: Key) -> syn::Result<Value> {
        match self {
            Self::Name(name) => Ok(Value::Name(name)),
            Self::Path(path) => Ok(Value::Path(quote!(#path))),
            Self::Expr(expr) => literal::check(key, expr),
        }
    }
}

/// Refuses what stands in angle brackets.
fn no_parameters(key: Key, what: &str, input: ParseStream) -> syn::Result<()> {
    if !input.peek(Token![<]) {
        return Ok(());
    }
    let why = match key {
        Key::Wrapper | Key::Of => ": what the trait is generic over is read from its declaration",
        _ => "",
    };
    let message = format!(
        "`{key}` takes a {what} alone, as in `{}`{why}",
        literal::example(key)
    );
    Err(input.error(message))
}

fn unknown(ident: &Ident, known: &[Key], section: Option<Key>) -> syn::Error {
    let name = ident.to_string();
    if name == "skip" {
        let message = "`skip` stands alone, on a method in an `impl` or a trait under `#[retry(…)]`: a function that is not to be retried needs no attribute";
        return syn::Error::new(ident.span(), message);
    }
    let suggestion = match elsewhere(&name).filter(|key| known.contains(key)) {
        Some(key) => format!("it is `{key}` here, as in `{}`", literal::example(key)),
        None => {
            let known: Vec<_> = known.iter().map(|key| key.name()).collect();
            nearest::suggestion(&name, &known)
        }
    };
    let place = section.map_or(String::new(), |section| format!(" in `{section}(…)`"));
    syn::Error::new(
        ident.span(),
        format!("unknown key `{name}`{place}: {suggestion}"),
    )
}

/// The key for what other libraries call by that name.
fn elsewhere(name: &str) -> Option<Key> {
    Some(match name {
        "attempts" | "count" | "max_attempts" | "max_retries" | "max_times" | "retries"
        | "times" | "tries" => Key::Max,
        "strategy" => Key::Backoff,
        "delay" | "initial" | "initial_delay" | "initial_interval" | "interval" | "min_delay"
        | "wait" => Key::Base,
        "exponent" | "multiplier" => Key::Factor,
        "max_backoff" | "max_delay" | "max_interval" => Key::Cap,
        "condition" | "predicate" | "retry_if" | "retry_on" | "retryable" | "when" => Key::On,
        "max_duration" | "max_elapsed" | "max_elapsed_time" | "total_timeout" => Key::Deadline,
        "notify" | "on_retry" => Key::Observe,
        "sleep" | "sleeper" => Key::Timer,
        _ => return None,
    })
}

fn drain(input: ParseStream) {
    while !input.is_empty() {
        let _: syn::Result<proc_macro2::TokenTree> = input.parse();
    }
}

/// Leaves the comma, if any, as the next token. A comma inside a value that could not be read is not told
/// from one between arguments, unless no key follows it.
fn skip_to_next(input: ParseStream) {
    while !input.is_empty() && !at_next(input) {
        let _: syn::Result<proc_macro2::TokenTree> = input.parse();
    }
}

fn at_next(input: ParseStream) -> bool {
    let ahead = input.fork();
    if ahead.parse::<Token![,]>().is_err() {
        return false;
    }
    ahead.is_empty()
        || ahead.call(Ident::parse_any).is_ok()
            && (ahead.peek(Token![=]) && !ahead.peek(Token![==]) || ahead.peek(token::Paren))
}
