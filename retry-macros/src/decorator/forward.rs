//! What of a method can be handed on to a client, and how.

use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, FnArg, Pat, Receiver, ReceiverKind, Type, TypeParamBound, WherePredicate};

use crate::check::Errors;
use crate::function::Function;
use crate::model;
use crate::outcome;
use crate::tokens::Path;

/// An argument.
pub(super) struct Given {
    pub(super) name: Ident,
    pub(super) is_owned: bool,
    is_mutable: bool,
}

impl Given {
    /// The expression that the client's method is given; `support` is the path to the runtime.
    pub(super) fn hand_on(
        &self,
        support: &Path,
        names_crate: bool,
        is_retried: bool,
    ) -> TokenStream {
        let name = &self.name;
        if self.is_mutable {
            return quote!(&mut *#name);
        }
        if !self.is_owned || !is_retried {
            return name.to_token_stream();
        }
        let slot = model::slot(name);
        let last = Ident::new("retry_last", Span::mixed_site());
        // An argument that is no `Clone`, or of another type than the client's, is complained about at its name.
        let taken = Ident::new("retry_taken", Span::mixed_site().located_at(name.span()));
        let support = if names_crate {
            support.clone()
        } else {
            support.located_at(name.span())
        };
        quote_spanned! {Span::call_site().located_at(name.span())=>
            match #support::take_argument(&mut #slot, #last) { #taken => #taken }
        }
    }
}

/// Names the arguments where they have none, and says how each is handed on.
pub(super) fn given(function: &mut Function, errors: &mut Errors) -> Vec<Given> {
    let mut all = Vec::new();
    for (index, argument) in function.signature.inputs.iter_mut().enumerate() {
        let FnArg::Typed(argument) = argument else {
            continue;
        };
        let name = match &mut *argument.pat {
            Pat::Ident(name) if name.subpat.is_none() && name.by_ref.is_none() => {
                name.mutability = None;
                name.ident.clone()
            }
            Pat::Wild(wild) => {
                let name = format_ident!("argument_{index}", span = wild.underscore_token.span);
                *argument.pat = Pat::Verbatim(name.to_token_stream());
                name
            }
            pattern => {
                errors.at(
                    pattern,
                    String::from("a pattern can't be handed on to a client: name the argument, and take it apart in the body"),
                );
                continue;
            }
        };
        if let Some(cfg) = argument.attrs.iter().find(|attribute| is_cfg(attribute)) {
            errors.at(
                cfg.path(),
                String::from("an argument with `#[cfg]` can't be handed on to a client: put `#[cfg]` on two versions of the method"),
            );
        }
        let reference = outcome::as_reference(&argument.ty);
        all.push(Given {
            name,
            is_owned: reference.is_none(),
            is_mutable: reference.is_some_and(|reference| reference.mutability.is_some()),
        });
    }
    all
}

/// What is wrapped, as a receiver asks for it, or `None` where it can't be had.
pub(super) fn lend(receiver: &Receiver) -> Option<TokenStream> {
    let this = &receiver.self_token;
    let place = Span::call_site().located_at(this.span);
    match &receiver.kind {
        ReceiverKind::Value => Some(quote_spanned!(place=> #this.client)),
        ReceiverKind::Reference(_, _, None) => Some(quote_spanned!(place=> &#this.client)),
        ReceiverKind::Reference(_, _, Some(_)) => Some(quote_spanned!(place=> &mut #this.client)),
        ReceiverKind::Typed(_, ty) => {
            let reference = outcome::as_reference(ty)?;
            let is_self =
                matches!(&*reference.elem, Type::Path(path) if path.path.is_ident("Self"));
            is_self.then(|| match reference.mutability {
                None => quote_spanned!(place=> &#this.client),
                Some(_) => quote_spanned!(place=> &mut #this.client),
            })
        }
        _ => None,
    }
}

/// `Self` in a type or a bound of a method, where what is said of the decorator need not be true of the client, as in
/// `Builder<Self>` or `Self: Clone`.
pub(super) fn self_in_types(function: &Function) -> Option<Ident> {
    let signature = &function.signature;
    let mut types = TokenStream::new();
    for argument in &signature.inputs {
        if let FnArg::Typed(argument) = argument {
            argument.ty.to_tokens(&mut types);
        }
    }
    signature.generics.params.to_tokens(&mut types);
    let bounds = signature.generics.where_clause.iter();
    for bound in bounds.flat_map(|bounds| &bounds.predicates) {
        match bound {
            WherePredicate::Type(bound) if is_lone_self(&bound.bounded_ty) => {
                let others = bound.bounds.iter().filter(|bound| !holds_for_both(bound));
                for other in others {
                    bound.bounded_ty.to_tokens(&mut types);
                    other.to_tokens(&mut types);
                }
            }
            bound => bound.to_tokens(&mut types),
        }
    }
    if let Some(returned) = function
        .return_type()
        .filter(|returned| !is_lone_self(returned))
    {
        returned.to_tokens(&mut types);
    }
    find_self(types)
}

/// Whether a bound on `Self` holds for the client where it does for the decorator.
fn holds_for_both(bound: &TypeParamBound) -> bool {
    match bound {
        TypeParamBound::Lifetime(_) => true,
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|name| {
            ["Sized", "Send", "Sync", "Unpin"]
                .iter()
                .any(|auto| name.ident == auto)
        }),
        _ => false,
    }
}

/// The first `Self` but in `Self::Item` and `<Self as Trait>`, which are the client's own.
fn find_self(tokens: TokenStream) -> Option<Ident> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) if ident == "Self" => match tokens.peek() {
                Some(TokenTree::Punct(colon))
                    if colon.as_char() == ':' && colon.spacing() == Spacing::Joint => {}
                Some(TokenTree::Ident(keyword)) if keyword == "as" => {}
                _ => return Some(ident),
            },
            TokenTree::Group(group) => {
                if let Some(found) = find_self(group.stream()) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

pub(super) fn is_lone_self(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Self"))
}

pub(super) fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}
