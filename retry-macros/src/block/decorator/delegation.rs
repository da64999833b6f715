//! Passing methods and their arguments on to a client.

use std::mem;

use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, Pat, Receiver, ReceiverKind, ReturnType, Type, TypeParamBound,
    WherePredicate, parse_quote,
};

use crate::errors::{Errors, error};
use crate::target::function::Function;
use crate::target::outcome;
use crate::tokens::{Code, code, code_at, ends_with, find, is_ident, is_punct, ours_at, to_vec};

/// An argument of a method.
pub(super) struct Param {
    pub(super) name: Ident,
    ty: Type,
}

impl Param {
    /// The argument as it is passed to the client's method.
    pub(super) fn argument(&self) -> Code {
        let name = &self.name;
        match outcome::as_reference(&self.ty) {
            Some(reference) if reference.mutability.is_some() => code!(&mut *#name),
            _ => name.to_token_stream(),
        }
    }

    pub(super) fn is_owned(&self) -> bool {
        outcome::as_reference(&self.ty).is_none()
    }

    /// For a borrowed argument: code that stores it, and the argument as it is passed to the client's method.
    pub(super) fn retained(&self) -> Option<(Code, Code)> {
        let (name, span) = (&self.name, self.name.span());
        let (keep, lent) = if let Some(reference) = outcome::as_reference(&self.ty) {
            let lent = ours_at!(span=> <#(&reference.elem) as __retry::KeptArgument>::lend(&#name));
            (ours_at!(span=> __retry::keep(#name)), lent)
        } else {
            let ty = &outcome::optional_reference(&self.ty)?.elem;
            let lent = ours_at!(span=> __retry::lend_optional::<#ty>(&#name));
            (ours_at!(span=> __retry::keep_optional(#name)), lent)
        };
        Some((code!(let #name = #keep;), lent))
    }

    /// True if a lifetime in the type prevents keeping the argument.
    pub(super) fn has_lifetime(&self) -> bool {
        let reference = outcome::as_reference(&self.ty);
        let reference = reference.or_else(|| outcome::optional_reference(&self.ty));
        match reference {
            Some(reference) => reference.mutability.is_some(),
            None => has_lifetime(self.ty.to_token_stream()),
        }
    }
}

/// True if the tokens contain a reference or a lifetime other than `'static`, except in parentheses, as in a
/// function's arguments.
fn has_lifetime(tokens: TokenStream) -> bool {
    to_vec(tokens).windows(2).any(|pair| {
        is_punct(&pair[0], '&') && !is_punct(&pair[1], '\'')
            || is_punct(&pair[0], '\'') && !is_ident(&pair[1], "static")
    })
}

/// Collects the arguments, and names those that have no name.
pub(super) fn parameters(function: &mut Function, errors: &mut Errors) -> Vec<Param> {
    let mut all = Vec::new();
    for index in 0..function.signature.inputs.len() {
        let FnArg::Typed(argument) = &mut function.signature.inputs[index] else {
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
                errors.push(error!(pattern.span() =>
                    "a pattern can't be passed on to the client: give the argument a name, and destructure it in the body"));
                continue;
            }
        };
        if let Some(cfg) = argument.attrs.iter().find(|attribute| is_cfg(attribute)) {
            errors.push(error!(cfg.path().span() =>
                "an argument with `#[cfg]` can't be passed on to the client: put `#[cfg]` on two versions of the method"));
        }
        let ty = (*argument.ty).clone();
        all.push(Param { name, ty });
    }
    all
}

/// The error and its span, if a method can't be passed on to a client.
pub(super) fn delegation_error(function: &Function) -> Option<(Span, String)> {
    let name = &function.signature.ident;
    if let Some(this) = find_foreign_self(function) {
        let message = format!(
            "`Self` is a different type in the client and in the decorator: write `{name}` without `Self`, or give it a default body"
        );
        return Some((this.span(), message));
    }
    let receiver = function.signature.receiver()?;
    let is_lent = SelfKind::of(receiver).is_some();
    (!is_lent).then(|| {
        let message = format!(
            "a decorator owns its client by value, not in an `Arc`, `Box` or `Pin`: take `&self` or `&mut self`, or give `{name}` a default body"
        );
        (receiver.span(), message)
    })
}

/// Replaces `Self` in `use<'_, Self>` with the client's type, because an impl's `Self` is not allowed in `use<…>`.
pub(super) fn replace_captured_self(function: &mut Function, client: &Ident) {
    let mut is_captured = false;
    let output = function.signature.output.to_token_stream().into_iter();
    let output: TokenStream = output
        .map(|token| {
            is_captured = is_ident(&token, "use") || is_captured && !is_punct(&token, '>');
            match token {
                TokenTree::Ident(this) if is_captured && this == "Self" => {
                    Ident::new(&client.to_string(), this.span()).into()
                }
                token => token,
            }
        })
        .collect();
    function.signature.output = parse_quote!(#output);
}

/// True for constructors and builder methods, which return `Self`.
pub(super) fn returns_self(function: &Function) -> bool {
    function.return_type().is_some_and(is_lone_self)
}

/// The result of a method that is not retried. A client returned as `Self` is wrapped again.
pub(super) fn rewrap_client(function: &Function, call: Code) -> Code {
    if !returns_self(function) {
        return call;
    }
    let policy = match function.signature.receiver() {
        Some(Receiver { self_token, .. }) => code!(#self_token.policy),
        None => code!(::core::option::Option::None),
    };
    code!(Self { policy: #policy, client: #call })
}

/// The kind of a receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SelfKind {
    /// `self`
    Value,
    /// `&self`
    Shared,
    /// `&mut self`
    Mutable,
}

impl SelfKind {
    /// The kind of a receiver. `None` for a smart pointer.
    pub(super) fn of(receiver: &Receiver) -> Option<Self> {
        let mutability = match &receiver.kind {
            ReceiverKind::Value => return Some(Self::Value),
            ReceiverKind::Reference(_, _, mutability) => mutability,
            ReceiverKind::Typed(_, ty) => {
                let reference = outcome::as_reference(ty).filter(|ty| is_lone_self(&ty.elem))?;
                &reference.mutability
            }
            _ => return None,
        };
        Some(match mutability {
            Some(_) => Self::Mutable,
            None => Self::Shared,
        })
    }
}

/// The result of `expr` for `self`, passed like the receiver: by value, `&` or `&mut`.
pub(super) fn as_receiver(function: &Function, expr: impl FnOnce(Ident) -> Code) -> Option<Code> {
    let receiver = function.signature.receiver()?;
    let what = expr(self_ident(receiver));
    let span = what.span();
    Some(match SelfKind::of(receiver)? {
        SelfKind::Value => what,
        SelfKind::Shared => code_at!(span=> &#what),
        SelfKind::Mutable => code_at!(span=> &mut #what),
    })
}

/// `self` with the hygiene of the method's own code.
pub(super) fn self_ident(receiver: &Receiver) -> Ident {
    Ident::new("self", receiver.self_token.span)
}

/// A `Self` in a method's signature that is a different type for the client, as in `Builder<Self>` or `Self: Clone`.
fn find_foreign_self(function: &Function) -> Option<Ident> {
    let mut signature = function.signature.clone();
    let arguments = mem::take(&mut signature.inputs).into_iter();
    let typed = arguments.filter(|argument| matches!(argument, FnArg::Typed(_)));
    signature.inputs = typed.collect();
    if let Some(bounds) = &mut signature.generics.where_clause {
        let all = mem::take(&mut bounds.predicates).into_iter();
        bounds.predicates = all.filter(|bound| !holds_for_client(bound)).collect();
    }
    if returns_self(function) {
        signature.output = ReturnType::Default;
    }
    find_self(signature.to_token_stream())
}

/// True for bounds on `Self` that hold for the client if they hold for the decorator.
fn holds_for_client(bound: &WherePredicate) -> bool {
    let markers = ["Sized", "Send", "Sync", "Unpin"];
    let is_marker = |bound: &TypeParamBound| match bound {
        TypeParamBound::Lifetime(_) => true,
        TypeParamBound::Trait(bound) => ends_with(&bound.path, &markers),
        _ => false,
    };
    matches!(bound, WherePredicate::Type(bound)
        if is_lone_self(&bound.bounded_ty) && bound.bounds.iter().all(is_marker))
}

/// The first `Self`, except in `Self::Item` and `<Self as Trait>`, because the decorator's associated types are the
/// client's.
fn find_self(tokens: TokenStream) -> Option<Ident> {
    find(tokens, &mut |_, from| match from {
        [TokenTree::Ident(_), TokenTree::Punct(colon), ..]
            if colon.as_char() == ':' && colon.spacing() == Spacing::Joint =>
        {
            None
        }
        [TokenTree::Ident(_), keyword, ..] if is_ident(keyword, "as") => None,
        [TokenTree::Ident(this), ..] => (this == "Self").then(|| this.clone()),
        _ => None,
    })
}

pub(super) fn is_lone_self(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Self"))
}

pub(super) fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}
