//! The target: a function whose body is kept as tokens, so that incomplete code still expands.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, FnArg, Lifetime, Pat, ReceiverKind, ReturnType, Signature, Token, Type, Visibility,
};

use crate::as_variant::as_variant;
use crate::target::moved_part;
use crate::target::outcome::{self, Delivery};
use crate::tokens::{self, braces, code, ends_with, is_ident, is_punct, shown, stream, to_vec};

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
    /// A body, with its braces.
    Block(Group),
    /// A trait method without a body.
    Missing(Token![;]),
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
                item.error("`#[retry]` can only be applied to functions and methods: put it on each one that you want to retry")
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

    /// True if the function returns a future without being async.
    pub(crate) fn is_future(&self) -> bool {
        let delivery = self.return_type().map(|ty| outcome::split(ty).1);
        delivery.is_some_and(|delivery| delivery != Delivery::Direct)
    }

    /// True if the signature shows that this is an associated function of a type.
    pub(crate) fn is_method(&self) -> bool {
        let signature = self.signature.to_token_stream();
        self.signature.receiver().is_some() || tokens::mentions(signature, "Self")
    }

    /// The body, if the function has one.
    pub(crate) fn block(&self) -> Option<&Group> {
        as_variant!(&self.body, Body::Block(block) => block)
    }

    /// True if another `#[retry]`, under another name, has already expanded the body.
    pub(crate) fn is_retried(&self) -> bool {
        let block = self.block();
        block.is_some_and(|block| tokens::mentions(block.stream(), tokens::RUNTIME))
    }

    /// The attribute `#[track_caller]`, also within `cfg_attr`.
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

    /// True if the body uses an argument whose type is a reference that need not be `'static`.
    pub(crate) fn borrows(&self) -> bool {
        let uses = |name: Ident| {
            let block = self.block();
            block.is_none_or(|block| tokens::find_use(block.stream(), &name.to_string()).is_some())
        };
        self.parameters().into_iter().any(|parameter| {
            let is_short = |(lifetime, _): Borrow| lifetime.is_none_or(|it| it.ident != "static");
            parameter.borrow.is_some_and(is_short) && parameter.name.is_none_or(uses)
        })
    }

    /// True if this lifetime in the return type (`None` if elided) is the lifetime of a `&mut` argument.
    pub(crate) fn lends_mutably(&self, returned: Option<&Lifetime>) -> bool {
        let returned = returned.filter(|lifetime| lifetime.ident != "_");
        for parameter in self.parameters() {
            let Some((lifetime, is_mutable)) = parameter.borrow else {
                continue;
            };
            // An elided lifetime is the receiver's, if that is a reference.
            let decides = parameter.is_self() && returned.is_none();
            let is_returned = returned.is_none() || returned == lifetime;
            if decides || is_returned && is_mutable {
                return is_mutable;
            }
        }
        false
    }

    /// An argument that the body uses and can modify, as messages show it.
    pub(crate) fn mutable_argument(&self) -> Option<String> {
        let body = self.block()?.stream();
        self.parameters().into_iter().find_map(|parameter| {
            let (is_self, lends) = (parameter.is_self(), parameter.is_lent_mutably());
            let Some(name) = parameter.name.filter(|_| lends) else {
                return mutable_part(parameter.pattern, &body);
            };
            let is_used = tokens::mentions(body.clone(), &name.to_string());
            is_used.then(|| match name {
                _ if is_self => String::from("`&mut self`"),
                name => format!("the `&mut` in `{name}`"),
            })
        })
    }

    /// True if the argument with this name is a reference. `None` if no argument has this name.
    pub(crate) fn is_reference(&self, name: &Ident) -> Option<bool> {
        let name = name.to_string();
        let mut parameters = self.parameters().into_iter();
        let found =
            parameters.find(|parameter| tokens::mentions(parameter.pattern.clone(), &name))?;
        Some(found.name.is_some() && found.borrow.is_some())
    }

    /// Finds a `&mut` argument that the body sets to a part of itself, as in `buffer = &mut buffer[read..]`. That
    /// would conflict with the next attempt's borrow.
    pub(crate) fn shrunk_argument(&self) -> Option<Ident> {
        let changed = |parameter: &Parameter| parameter.is_mutable && parameter.is_lent_mutably();
        let parameters = self.parameters().into_iter().filter(changed);
        let names: Vec<_> = parameters.filter_map(|parameter| parameter.name).collect();
        tokens::find(self.block()?.stream(), &mut |before, from| {
            let set = as_variant!(&from[0], TokenTree::Ident(set) if names.contains(set) => set)?;
            let is_part = shown(&stream(from.get(..5)?)) == format!("{set}=&mut{set}");
            let is_other = |token| is_punct(token, '.') || is_ident(token, "mut");
            let is_whole = !before.last().is_some_and(is_other);
            (is_part && is_whole).then(|| set.clone())
        })
    }

    /// A part of an owned argument that the body moves out, see [`moved_part::find`].
    pub(crate) fn moved_part(&self) -> Option<TokenStream> {
        let block = self.block()?;
        let owned = |parameter: &Parameter| {
            parameter.is_mutable && parameter.borrow.is_none() && !parameter.is_self()
        };
        let mut parameters = self.parameters().into_iter().filter(owned);
        parameters.find_map(|parameter| moved_part::find(block.stream(), &parameter.name?))
    }

    /// Removes `mut` from the named arguments. The per-attempt clones are declared `mut` instead.
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

    /// The function with another body.
    pub(crate) fn with_body(&self, body: &dyn ToTokens) -> TokenStream {
        let mut attributes = TokenStream::new();
        attributes.append_all(&self.attributes);
        let (visibility, defaultness) = (&self.visibility, &self.defaultness);
        code!(#attributes #visibility #defaultness #(&self.signature) #(body))
    }

    /// The function as written, but marked so that a `#[retry]` under another name recognizes it as already retried.
    /// `krate` is the runtime.
    pub(crate) fn marked_as_retried(&self, krate: &TokenStream) -> TokenStream {
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

/// The error for a second `#[retry]`.
pub(crate) const DUPLICATE: &str = "a second `#[retry]` would multiply the attempts: keep only one";

pub(crate) fn is_retry(attribute: &Attribute) -> bool {
    ends_with(attribute.path(), &["retry"])
}

/// True if the next item is a function, and not, for example, a struct or a const of a function type.
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

/// A `mut name` in a pattern, if the body uses the name.
fn mutable_part(pattern: TokenStream, body: &TokenStream) -> Option<String> {
    tokens::find(pattern, &mut |before, from| match from {
        [keyword, TokenTree::Ident(name), ..] if is_ident(keyword, "mut") => {
            // The pattern `&mut name` copies the value behind a reference.
            if before.last().is_some_and(|before| is_punct(before, '&')) {
                return None;
            }
            let name = name.to_string();
            tokens::mentions(body.clone(), &name).then(|| format!("`mut {name}`"))
        }
        _ => None,
    })
}

/// An argument of the function, as the body uses it.
struct Parameter<'a> {
    /// `None` if a pattern destructures it.
    name: Option<Ident>,
    pattern: TokenStream,
    /// True if the body can assign to the argument.
    is_mutable: bool,
    borrow: Option<Borrow<'a>>,
}

/// The lifetime of a reference, if it has a name, and true if the reference is `&mut`.
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

/// Splits off `#![…]` at the start of a body, where it must remain.
pub(crate) fn inner_attributes(body: TokenStream) -> (TokenStream, TokenStream) {
    let tokens = to_vec(body);
    let mut end = 0;
    while matches!(&tokens[end..], [hash, bang, TokenTree::Group(_), ..] if is_punct(hash, '#') && is_punct(bang, '!'))
    {
        end += 3;
    }
    let (attributes, statements) = tokens.split_at(end);
    (stream(attributes), stream(statements))
}
