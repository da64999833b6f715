//! The members of an `impl` or a `trait`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use retry_vocabulary::messages::SKIP;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, ItemImpl, Meta, Token, Type, token};

use crate::as_variant::as_variant;
use crate::attribute::argument::Arguments;
use crate::errors::Errors;
use crate::target::check::{Check, Placement};
use crate::target::function::{DUPLICATE, Function, is_function, is_retry};
use crate::target::outcome::{self, Delivery};
use crate::tokens::{code, is_punct, mentions, stream, with_content};
use crate::{attribute, target};

/// An `impl` or a `trait`. Only its members are parsed.
pub(crate) struct BracedItem {
    /// Everything before the braces.
    pub(crate) header: TokenStream,
    pub(crate) braces: Group,
}

pub(crate) enum Keyword {
    Impl,
    Trait,
}

impl BracedItem {
    /// The item, if it is an `impl` or a trait.
    pub(crate) fn parse(item: &TokenStream) -> Option<(Keyword, Self)> {
        let mut header = ungrouped(item.clone());
        // Only attributes and words such as `unsafe` come before the keyword. In a function, `fn` comes first.
        let keyword = header.iter().find_map(|token| match token {
            TokenTree::Ident(ident) if ident == "impl" => Some(Some(Keyword::Impl)),
            TokenTree::Ident(ident) if ident == "trait" => Some(Some(Keyword::Trait)),
            TokenTree::Ident(ident) if ident == "fn" => Some(None),
            _ => None,
        });
        let keyword = keyword.flatten()?;
        let braces = as_variant!(header.pop()?, TokenTree::Group(braces) => braces)?;
        let header = stream(&header);
        (braces.delimiter() == Delimiter::Brace).then_some((keyword, Self { header, braces }))
    }

    /// The name of the type of an `impl`. `None` for a type without a name, such as a reference.
    pub(crate) fn type_name(&self) -> Option<Ident> {
        let header = &self.header;
        let item: ItemImpl = syn::parse2(code!(#header {})).ok()?;
        let of = as_variant!(*item.self_ty, Type::Path(of) => of.path)?;
        Some(of.segments.last()?.ident.clone())
    }

    /// The item with other members.
    pub(crate) fn with_members(&self, content: TokenStream) -> TokenStream {
        let header = &self.header;
        code!(#header #(with_content(&self.braces, content)))
    }
}

pub(crate) enum Member {
    Function(Box<Method>),
    /// A const, a type, a macro.
    Other(TokenStream),
}

/// A function, separated from its own `#[retry]`.
pub(crate) struct Method {
    pub(crate) function: Function,
    pub(crate) own: Own,
}

/// A member's own `#[retry]`.
pub(crate) enum Own {
    /// No attribute of its own.
    Nothing,
    /// `#[retry(skip)]`
    Skip,
    Arguments(Arguments),
}

pub(crate) fn parse(content: TokenStream) -> syn::Result<Vec<Member>> {
    let members = |input: ParseStream| {
        let mut members = Vec::new();
        while !input.is_empty() {
            members.push(if is_function(&input.fork()) {
                Member::Function(Box::new(parse_method(input)?))
            } else {
                Member::Other(parse_other(input)?)
            });
        }
        Ok(members)
    };
    members.parse2(stream(&ungrouped(content)))
}

/// Removes the invisible groups in which `macro_rules!` passes members, as in `$($item)*`.
fn ungrouped(content: TokenStream) -> Vec<TokenTree> {
    let mut ungrouped: Vec<TokenTree> = Vec::new();
    for token in content {
        let begins = ungrouped.last().is_none_or(|last| match last {
            // After an attribute, or a body.
            TokenTree::Group(group) => group.delimiter() != Delimiter::Parenthesis,
            last => is_punct(last, ';'),
        });
        match token {
            TokenTree::Group(group) if begins && group.delimiter() == Delimiter::None => {
                ungrouped.extend(self::ungrouped(group.stream()));
            }
            token => ungrouped.push(token),
        }
    }
    ungrouped
}

fn parse_method(input: ParseStream) -> syn::Result<Method> {
    let mut function: Function = input.parse()?;
    let (mut marks, others) = function
        .attributes
        .into_iter()
        .partition::<Vec<_>, _>(is_retry);
    function.attributes = others;
    let hidden = function.attributes.iter().find(|attribute| {
        attribute.path().is_ident("cfg_attr") && mentions(attribute.to_token_stream(), "retry")
    });
    let own = match (hidden, marks.pop()) {
        (Some(hidden), _) => own_error(
            hidden,
            "a `#[retry]` in `cfg_attr` is expanded too late and would multiply the attempts: put `#[cfg]` on two versions of the method",
        ),
        (None, None) => Own::Nothing,
        (None, Some(second)) if !marks.is_empty() => own_error(&second, DUPLICATE),
        (None, Some(attribute)) => match attribute.meta {
            Meta::List(list) if list.tokens.to_string() == SKIP => Own::Skip,
            Meta::List(list) => Own::Arguments(Arguments::parse(list.tokens)),
            Meta::Path(_) => Own::Arguments(Arguments::default()),
            Meta::NameValue(_) => own_error(
                &attribute,
                "put the arguments in parentheses, as in `#[retry(max = 5)]` or `#[retry(skip)]`",
            ),
        },
    };
    Ok(Method { function, own })
}

fn own_error(attribute: &Attribute, message: &str) -> Own {
    let mut arguments = Arguments::default();
    arguments.errors.at(attribute.path().span(), message);
    Own::Arguments(arguments)
}

/// Reads a member up to the semicolon, or to the braces of a macro.
fn parse_other(input: ParseStream) -> syn::Result<TokenStream> {
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

/// The arguments for retrying a member, or `None` if it is not retried.
pub(crate) fn merge_own(
    block: &Arguments,
    own: &Own,
    function: &Function,
    placement: Placement,
    errors: &mut Errors,
) -> Option<Arguments> {
    let own = match own {
        Own::Skip => return None,
        Own::Nothing if target::check::check_hidden(function, placement, errors) => return None,
        Own::Nothing if !can_fail(function) => {
            target::check::report_inner_result(function, errors);
            return None;
        }
        Own::Nothing => Arguments::default(),
        Own::Arguments(own) => own.clone(),
    };
    attribute::check::check_non_trait(&own, errors);
    attribute::check::check_member(&own, block, errors);
    let arguments = block.for_member(own, &function.signature.ident);
    attribute::check::refuse_policy_settings(&arguments, errors);
    let mut check = Check::new(&arguments, function, placement, errors);
    check.check_self();
    check.run();
    Some(arguments)
}

/// True if a function is async or returns a future, a stream or a `Result`, judging by the type's name.
fn can_fail(function: &Function) -> bool {
    let Some(returned) = function.return_type() else {
        return function.is_async();
    };
    let (outcome, delivery) = outcome::split(returned);
    function.is_async()
        || delivery != Delivery::Direct
        || outcome::is_named_result(outcome)
        // A stream without the key `stream` is rejected, not silently skipped.
        || outcome::stream(outcome).is_some()
}
