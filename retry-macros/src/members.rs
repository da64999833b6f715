//! What stands in the braces of an `impl` or a `trait`.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, LitStr, Meta, Token, Visibility, token};

use crate::function::Function;
use crate::parse::Arguments;
use crate::tokens::mentions;

/// An `impl` or a `trait`, of which only the members are looked at.
pub(crate) struct Braced {
    /// All before the braces.
    pub(crate) header: TokenStream,
    pub(crate) braces: Group,
}

pub(crate) enum Keyword {
    Impl,
    Trait,
}

impl Braced {
    /// The item, if it is one.
    pub(crate) fn of(item: &TokenStream) -> Option<(Keyword, Self)> {
        let mut header: Vec<_> = item.clone().into_iter().collect();
        // Before it there are attributes and `unsafe`, in groups and words; in a function, `fn` comes first.
        let keyword = header.iter().find_map(|token| match token {
            TokenTree::Ident(ident) if ident == "impl" => Some(Some(Keyword::Impl)),
            TokenTree::Ident(ident) if ident == "trait" => Some(Some(Keyword::Trait)),
            TokenTree::Ident(ident) if ident == "fn" => Some(None),
            _ => None,
        });
        let keyword = keyword.flatten()?;
        match header.pop() {
            Some(TokenTree::Group(braces)) if braces.delimiter() == Delimiter::Brace => {
                let header = header.into_iter().collect();
                Some((keyword, Self { header, braces }))
            }
            _ => None,
        }
    }

    /// The same with other members.
    pub(crate) fn with(&self, content: TokenStream) -> TokenStream {
        let mut braces = Group::new(Delimiter::Brace, content);
        braces.set_span(self.braces.span());
        let header = &self.header;
        quote!(#header #braces)
    }
}

pub(crate) enum Member {
    Function(Box<Method>),
    /// A const, a type, a macro.
    Other(TokenStream),
}

/// A function, and what its own `#[retry]` says, which it no longer has.
pub(crate) struct Method {
    pub(crate) function: Function,
    pub(crate) mark: Mark,
}

/// `#[retry]` on a member.
pub(crate) enum Mark {
    None,
    /// `#[retry(skip)]`
    Skip,
    Own(Arguments),
}

pub(crate) fn parse(content: TokenStream) -> syn::Result<Vec<Member>> {
    let members = |input: ParseStream| {
        let mut members = Vec::new();
        while !input.is_empty() {
            members.push(if is_function(&input.fork()) {
                Member::Function(Box::new(method(input)?))
            } else {
                Member::Other(other(input)?)
            });
        }
        Ok(members)
    };
    members.parse2(content)
}

fn method(input: ParseStream) -> syn::Result<Method> {
    let mut function: Function = input.parse()?;
    let mut marks = Vec::new();
    function.attributes.retain(|attribute| {
        let is_mark = is_retry(attribute);
        if is_mark {
            marks.push(attribute.clone());
        }
        !is_mark
    });
    let hidden = function.attributes.iter().find(|attribute| {
        attribute.path().is_ident("cfg_attr") && mentions(attribute.to_token_stream(), "retry")
    });
    let mark = match (hidden, marks.pop()) {
        (Some(hidden), _) => wrong(
            hidden,
            "a `#[retry]` in `cfg_attr` is seen too late, and would multiply the attempts: put `#[cfg]` on two versions of the method",
        ),
        (None, None) => Mark::None,
        (None, Some(second)) if !marks.is_empty() => wrong(
            &second,
            "a second `#[retry]` would multiply the attempts: keep one",
        ),
        (None, Some(attribute)) => match attribute.meta {
            Meta::List(list) if is_skip(&list.tokens) => Mark::Skip,
            Meta::List(list) => Mark::Own(Arguments::parse(list.tokens)),
            _ => Mark::Own(Arguments::default()),
        },
    };
    Ok(Method { function, mark })
}

fn wrong(attribute: &Attribute, message: &str) -> Mark {
    Mark::Own(Arguments {
        errors: vec![syn::Error::new(attribute.path().span(), message)],
        ..Arguments::default()
    })
}

pub(crate) fn is_retry(attribute: &Attribute) -> bool {
    let name = attribute.path().segments.last();
    name.is_some_and(|name| name.ident == "retry")
}

fn is_skip(tokens: &TokenStream) -> bool {
    let mut tokens = tokens.clone().into_iter();
    matches!(
        (tokens.next(), tokens.next()),
        (Some(TokenTree::Ident(word)), None) if word == "skip"
    )
}

/// Whether a function comes next, and not, say, a const whose type is a function's.
fn is_function(ahead: ParseStream) -> bool {
    let qualifiers = || -> syn::Result<()> {
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        ahead.parse::<Option<Token![default]>>()?;
        ahead.parse::<Option<Token![const]>>()?;
        ahead.parse::<Option<Token![async]>>()?;
        ahead.parse::<Option<Token![unsafe]>>()?;
        if ahead.parse::<Option<Token![extern]>>()?.is_some() {
            ahead.parse::<Option<LitStr>>()?;
        }
        Ok(())
    };
    qualifiers().is_ok() && ahead.peek(Token![fn])
}

/// Up to the semicolon, or to the braces of a macro.
fn other(input: ParseStream) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    for attribute in input.call(Attribute::parse_outer)? {
        attribute.to_tokens(&mut tokens);
    }
    let mut is_macro = false;
    while !input.is_empty() {
        if input.peek(Token![!]) {
            is_macro = true;
        }
        let ends = input.peek(Token![;]) || is_macro && input.peek(token::Brace);
        tokens.append(input.parse::<TokenTree>()?);
        if ends {
            break;
        }
    }
    Ok(tokens)
}
