//! The target: a function whose body stays tokens, so that half-typed code still expands.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, FnArg, Lifetime, Pat, ReceiverKind, ReturnType, Signature, Token, Type, Visibility,
};

use crate::as_variant::as_variant;
use crate::target::moved_part;
use crate::target::outcome::{self, Delivery};
use crate::tokens::{self, braces, code, ends_with, is_ident, is_punct, stream, trees};

/// A function or method.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) defaultness: Option<Token![default]>,
    pub(crate) signature: Signature,
    pub(crate) body: Body,
}

#[derive(Clone)]
pub(crate) enum Body {
    /// In braces.
    Block(Group),
    /// A method of a trait that only declares it.
    Missing(Token![;]),
}

/// Whether the function can await.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asyncness {
    Async,
    Blocking,
}

impl Parse for Function {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let defaultness = input.parse()?;
        let item = input.fork();
        let signature = input.parse().map_err(|error| {
            if is_function(&item.fork()) {
                error
            } else {
                item.error("`#[retry]` goes on functions and methods: put it on each that is to be retried")
            }
        })?;
        let body = if input.peek(Token![;]) {
            Body::Missing(input.parse()?)
        } else {
            Body::Block(input.step(|cursor| {
                let Some((content, span, rest)) = cursor.group(Delimiter::Brace) else {
                    return Err(cursor.error("expected the function's body"));
                };
                Ok((braces(content.token_stream(), span.join()), rest))
            })?)
        };
        Ok(Self {
            attributes,
            visibility,
            defaultness,
            signature,
            body,
        })
    }
}

impl Function {
    pub(crate) fn is_async(&self) -> bool {
        self.signature.asyncness.is_some()
    }

    /// Whether it returns a future without being an async function.
    pub(crate) fn is_future(&self) -> bool {
        let delivery = self.return_type().map(|returned| outcome::of(returned).1);
        delivery.is_some_and(|delivery| delivery != Delivery::Direct)
    }

    /// The body, if it has one.
    pub(crate) fn block(&self) -> Option<&Group> {
        as_variant!(&self.body, Body::Block(block) => block)
    }

    /// Whether its body was retried already, by an attribute under another name.
    pub(crate) fn is_retried(&self) -> bool {
        let block = self.block();
        block.is_some_and(|block| tokens::mentions(block.stream(), tokens::RUNTIME))
    }

    /// `#[track_caller]`, also under a condition.
    pub(crate) fn tracks_caller(&self) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| {
            let path = attribute.path();
            path.is_ident("track_caller")
                || path.is_ident("cfg_attr")
                    && tokens::mentions(attribute.to_token_stream(), "track_caller")
        })
    }

    pub(crate) fn return_type(&self) -> Option<&Type> {
        as_variant!(&self.signature.output, ReturnType::Type(_, ty) => ty)
    }

    fn parameters(&self) -> Vec<Parameter<'_>> {
        let mut parameters = Vec::new();
        for argument in &self.signature.inputs {
            parameters.push(match argument {
                FnArg::Receiver(receiver) => Parameter {
                    name: Some(receiver.self_token.into()),
                    pattern: receiver.self_token.to_token_stream(),
                    is_mutable: receiver.mutability.is_some(),
                    borrow: match &receiver.kind {
                        ReceiverKind::Reference(_, lifetime, mutability) => {
                            Some((lifetime.as_ref(), mutability.is_some()))
                        }
                        ReceiverKind::Typed(_, ty) => borrow(ty),
                        _ => None,
                    },
                },
                FnArg::Typed(typed) => {
                    let named = as_variant!(&*typed.pat, Pat::Ident(named) => named);
                    Parameter {
                        name: named.map(|named| named.ident.clone()),
                        pattern: typed.pat.to_token_stream(),
                        is_mutable: named.is_some_and(|named| named.mutability.is_some()),
                        borrow: borrow(&typed.ty),
                    }
                }
            });
        }
        parameters
    }

    /// Whether the body uses an argument that, by its look, is a reference and need not be `'static`.
    pub(crate) fn borrows(&self) -> bool {
        let uses = |name: Ident| {
            let block = self.block();
            block.is_none_or(|block| tokens::uses(block.stream(), &name.to_string()))
        };
        self.parameters().into_iter().any(|parameter| {
            let is_short =
                |lifetime: Option<&Lifetime>| lifetime.is_none_or(|it| it.ident != "static");
            let is_borrow = parameter
                .borrow
                .is_some_and(|(lifetime, _)| is_short(lifetime));
            is_borrow && parameter.name.is_none_or(uses)
        })
    }

    /// Whether a lifetime in the return type, or one left out there, is that of a `&mut` argument.
    pub(crate) fn lends_mutably(&self, returned: Option<&Lifetime>) -> bool {
        let returned = returned.filter(|lifetime| lifetime.ident != "_");
        for parameter in self.parameters() {
            let Some((lifetime, is_mutable)) = parameter.borrow else {
                continue;
            };
            // A lifetime that is left out is the receiver's, if that is a reference.
            let decides = parameter.is_self() && returned.is_none();
            let is_returned = returned.is_none() || returned == lifetime;
            if decides || is_returned && is_mutable {
                return is_mutable;
            }
        }
        false
    }

    /// An argument that the body can change and uses, as messages name it.
    pub(crate) fn mutable_argument(&self) -> Option<String> {
        let block = self.block()?;
        self.parameters().into_iter().find_map(|parameter| {
            let (is_self, lends) = (parameter.is_self(), parameter.is_lent_mutably());
            let Some(name) = parameter.name else {
                return mutable_part(parameter.pattern, &block.stream());
            };
            let name = name.to_string();
            let shown = match lends {
                true if is_self => String::from("`&mut self`"),
                true => format!("the `&mut` in `{name}`"),
                false if parameter.is_mutable && !is_self => format!("`mut {name}`"),
                false => return None,
            };
            tokens::mentions(block.stream(), &name).then_some(shown)
        })
    }

    /// Whether an argument of that name is a reference; `None` where there is no such argument.
    pub(crate) fn is_reference(&self, name: &Ident) -> Option<bool> {
        let name = name.to_string();
        let mut parameters = self.parameters().into_iter();
        let found =
            parameters.find(|parameter| tokens::mentions(parameter.pattern.clone(), &name))?;
        Some(found.name.is_some() && found.borrow.is_some())
    }

    /// Where the body sets a `&mut` argument to a part of itself, as in `buffer = &mut buffer[read..]`: no attempt may, since
    /// it borrows what the next one borrows, too.
    pub(crate) fn shrinks(&self) -> Option<Ident> {
        let block = self.block()?;
        let changed = |parameter: &Parameter| parameter.is_mutable && parameter.is_lent_mutably();
        let mut parameters = self.parameters().into_iter().filter(changed);
        parameters.find_map(|parameter| shrinks(block.stream(), &parameter.name?))
    }

    /// The part of an argument that an attempt owns, by [`moved_part::find`].
    pub(crate) fn moved_part(&self) -> Option<TokenStream> {
        let block = self.block()?;
        let owned = |parameter: &Parameter| {
            parameter.is_mutable && parameter.borrow.is_none() && !parameter.is_self()
        };
        let mut parameters = self.parameters().into_iter().filter(owned);
        parameters.find_map(|parameter| moved_part::find(block.stream(), &parameter.name?))
    }

    /// Takes `mut` from the arguments of those names, since it stands with what each attempt owns of them.
    pub(crate) fn without_mut(&mut self, names: &[Ident]) {
        for argument in &mut self.signature.inputs {
            let (name, mutability) = match argument {
                FnArg::Receiver(receiver) => (receiver.self_token.into(), &mut receiver.mutability),
                FnArg::Typed(typed) => match &mut *typed.pat {
                    Pat::Ident(named) => (named.ident.clone(), &mut named.mutability),
                    _ => continue,
                },
            };
            if names.contains(&name) {
                *mutability = None;
            }
        }
    }

    /// The function with that body.
    pub(crate) fn with_body(&self, body: &dyn ToTokens) -> TokenStream {
        let mut attributes = TokenStream::new();
        attributes.append_all(&self.attributes);
        let (visibility, defaultness) = (&self.visibility, &self.defaultness);
        code!(#attributes #visibility #defaultness #(&self.signature) #(body))
    }

    /// The function as written, but so that a `#[retry]` under another name would find it retried already. `krate` is the
    /// runtime.
    pub(crate) fn marked(&self, krate: &TokenStream) -> TokenStream {
        let mut marked = self.to_token_stream();
        let is_inert = |attribute: &Attribute| {
            let path = attribute.path();
            path.is_ident("doc") || path.is_ident("cfg")
        };
        if let (Body::Block(block), false) = (&self.body, self.attributes.iter().all(is_inert)) {
            let (attributes, statements) = inner_attributes(block.stream());
            let import = tokens::import(krate);
            let content = code!(#attributes #[allow(unused_imports)] #import #statements);
            marked = self.with_body(&braces(content, block.span()));
        }
        marked
    }
}

/// What is wrong with a second `#[retry]`.
pub(crate) const SECOND: &str = "a second `#[retry]` would multiply the attempts: keep one";

pub(crate) fn is_retry(attribute: &Attribute) -> bool {
    ends_with(attribute.path(), &["retry"])
}

/// Whether a function comes next, as opposed to, say, a const of a function type or a struct.
pub(crate) fn is_function(ahead: ParseStream) -> bool {
    while let Ok(token) = ahead.parse() {
        match token {
            TokenTree::Ident(ident) if ident == "fn" => return true,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return false,
            TokenTree::Punct(punct) if ":=;!".contains(punct.as_char()) => return false,
            _ => {}
        }
    }
    false
}

/// The `mut name` in a pattern of which the body uses the name.
fn mutable_part(pattern: TokenStream, body: &TokenStream) -> Option<String> {
    tokens::find(pattern, &mut |before, from| match from {
        [keyword, TokenTree::Ident(name), ..] if is_ident(keyword, "mut") => {
            // `&mut name` copies from behind a reference.
            if before.last().is_some_and(|before| is_punct(before, '&')) {
                return None;
            }
            let name = name.to_string();
            tokens::mentions(body.clone(), &name).then(|| format!("`mut {name}`"))
        }
        _ => None,
    })
}

/// The `buffer` in front of `= &mut buffer`, which no field is.
fn shrinks(body: TokenStream, name: &Ident) -> Option<Ident> {
    tokens::find(body, &mut |before, from| {
        let [
            TokenTree::Ident(set),
            equals,
            and,
            keyword,
            TokenTree::Ident(part),
            ..,
        ] = from
        else {
            return None;
        };
        let is_other = |token| is_punct(token, '.') || is_ident(token, "mut");
        let is_part = set == name
            && part == name
            && is_punct(equals, '=')
            && is_punct(and, '&')
            && is_ident(keyword, "mut")
            && !before.last().is_some_and(is_other);
        is_part.then(|| set.clone())
    })
}

/// An argument, as the body sees it.
struct Parameter<'a> {
    /// `None` where a pattern takes it apart.
    name: Option<Ident>,
    pattern: TokenStream,
    /// Whether the body may set it.
    is_mutable: bool,
    borrow: Option<Borrow<'a>>,
}

/// The lifetime of a reference, as far as it is named, and whether it is a `&mut`.
type Borrow<'a> = (Option<&'a Lifetime>, bool);

impl Parameter<'_> {
    fn is_self(&self) -> bool {
        self.name.as_ref().is_some_and(|name| name == "self")
    }

    fn is_lent_mutably(&self) -> bool {
        matches!(self.borrow, Some((_, true)))
    }
}

fn borrow(ty: &Type) -> Option<Borrow<'_>> {
    let reference = outcome::as_reference(ty)?;
    Some((reference.lifetime.as_ref(), reference.mutability.is_some()))
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match &self.body {
            Body::Block(body) => self.with_body(body),
            Body::Missing(semicolon) => self.with_body(semicolon),
        });
    }
}

/// Parts `#![…]` at the start of a body from the rest, since it must stay at its start.
pub(crate) fn inner_attributes(body: TokenStream) -> (TokenStream, TokenStream) {
    let tokens = trees(body);
    let mut end = 0;
    while matches!(&tokens[end..], [hash, bang, TokenTree::Group(_), ..] if is_punct(hash, '#') && is_punct(bang, '!'))
    {
        end += 3;
    }
    let (attributes, statements) = tokens.split_at(end);
    (stream(attributes), stream(statements))
}
