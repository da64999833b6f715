//! Which methods can be passed on to a client, and how.

use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, Pat, Receiver, ReceiverKind, Type, TypeParamBound, WherePredicate,
    parse_quote,
};

use crate::errors::{Errors, error};
use crate::target::function::Function;
use crate::target::outcome;
use crate::tokens::{
    Code, code, code_at, ends_with, find, is_ident, is_punct, mapped, ours_at, trees,
};

/// An argument.
pub(super) struct Given {
    pub(super) name: Ident,
    ty: Type,
}

impl Given {
    /// What the client's method gets.
    pub(super) fn handed_on(&self) -> Code {
        let name = &self.name;
        match outcome::as_reference(&self.ty) {
            Some(reference) if reference.mutability.is_some() => code!(&mut *#name),
            _ => name.to_token_stream(),
        }
    }

    pub(super) fn is_owned(&self) -> bool {
        outcome::as_reference(&self.ty).is_none()
    }

    /// How to keep it where it is borrowed, and what the client's method gets of what was kept.
    pub(super) fn kept(&self) -> Option<(&'static str, Code)> {
        let (name, span) = (&self.name, self.name.span());
        if let Some(reference) = outcome::as_reference(&self.ty) {
            let ty = &reference.elem;
            let lent = ours_at!(span=> <#ty as __retry::KeptArgument>::lend(&#name));
            return Some(("keep", lent));
        }
        let ty = &outcome::optional_reference(&self.ty)?.elem;
        let lent = ours_at!(span=> __retry::lend_optional::<#ty>(&#name));
        Some(("keep_optional", lent))
    }

    /// Whether a lifetime in its type keeps it from being kept.
    pub(super) fn is_tied(&self) -> bool {
        let reference = outcome::as_reference(&self.ty);
        let reference = reference.or_else(|| outcome::optional_reference(&self.ty));
        match reference {
            Some(reference) => reference.mutability.is_some(),
            None => is_tied(self.ty.to_token_stream()),
        }
    }
}

/// Whether a reference or a lifetime other than `'static` stands among the tokens. What a function takes, in parentheses,
/// is not kept.
fn is_tied(tokens: TokenStream) -> bool {
    trees(tokens).windows(2).any(|pair| {
        is_punct(&pair[0], '&') && !is_punct(&pair[1], '\'')
            || is_punct(&pair[0], '\'') && !is_ident(&pair[1], "static")
    })
}

/// Names the arguments where they have none, and says how each is handed on.
pub(super) fn given(function: &mut Function, errors: &mut Errors) -> Vec<Given> {
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
                    "a pattern can't be handed on to a client: name the argument, and take it apart in the body"));
                continue;
            }
        };
        if let Some(cfg) = argument.attrs.iter().find(|attribute| is_cfg(attribute)) {
            errors.push(error!(cfg.path().span() =>
                "an argument with `#[cfg]` can't be handed on to a client: put `#[cfg]` on two versions of the method"));
        }
        let ty = (*argument.ty).clone();
        all.push(Given { name, ty });
    }
    all
}

/// Why a method can't be handed on to a client, and where that shows.
pub(super) fn stays_with_decorator(function: &Function) -> Option<(Span, String)> {
    let name = &function.signature.ident;
    if let Some(this) = self_in_types(function) {
        let message = format!(
            "a client's `Self` is not the decorator's: name no `Self` here, or give `{name}` a default body"
        );
        return Some((this.span(), message));
    }
    let receiver = function.signature.receiver()?;
    let is_lent = Lent::of(receiver).is_some();
    (!is_lent).then(|| {
        let message = format!(
            "a decorator has what it wraps by value, and not in an `Arc`, `Box` or `Pin`: take `&self` or `&mut self`, or give `{name}` a default body"
        );
        (receiver.span(), message)
    })
}

/// Names the client in place of `Self` in `use<'_, Self>`, where the `Self` of an `impl` can't stand.
pub(super) fn capture(function: &mut Function, client: &Ident) {
    let mut is_captured = false;
    let output = mapped(function.signature.output.to_token_stream(), &mut |token| {
        is_captured = is_ident(&token, "use") || is_captured && !is_punct(&token, '>');
        match token {
            TokenTree::Ident(this) if is_captured && this == "Self" => {
                Ident::new(&client.to_string(), this.span()).into()
            }
            token => token,
        }
    });
    function.signature.output = parse_quote!(#output);
}

/// Whether it is a constructor or a builder's step.
pub(super) fn returns_self(function: &Function) -> bool {
    function.return_type().is_some_and(is_lone_self)
}

/// What a method returns that is not retried. A constructor or a builder's step makes a client, to be wrapped again.
pub(super) fn wrapped_again(function: &Function, call: Code) -> Code {
    if !returns_self(function) {
        return call;
    }
    let policy = match function.signature.receiver() {
        Some(Receiver { self_token, .. }) => code!(#self_token.policy),
        None => code!(::core::option::Option::None),
    };
    code!(Self { policy: #policy, client: #call })
}

/// How a receiver lends what is behind it.
#[derive(Clone, Copy)]
pub(super) enum Lent {
    /// `self`
    Value,
    /// `&self`
    Shared,
    /// `&mut self`
    Mutable,
}

impl Lent {
    /// How a receiver lends; `None` for a pointer, from which nothing can be lent.
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

/// What stands behind a method's `self`, lent as the receiver says: by value, `&` or `&mut`. `behind` makes it from
/// `self`.
pub(super) fn lent(function: &Function, behind: impl FnOnce(Ident) -> Code) -> Option<Code> {
    let receiver = function.signature.receiver()?;
    let what = behind(this_of(receiver));
    let span = what.span();
    Some(match Lent::of(receiver)? {
        Lent::Value => what,
        Lent::Shared => code_at!(span=> &#what),
        Lent::Mutable => code_at!(span=> &mut #what),
    })
}

/// `self`, as the method's own code can say it.
pub(super) fn this_of(receiver: &Receiver) -> Ident {
    Ident::new("self", receiver.self_token.span)
}

/// `Self` in a type or a bound of a method, where something true of the decorator need not be true of the client, as in
/// `Builder<Self>` or `Self: Clone`.
fn self_in_types(function: &Function) -> Option<Ident> {
    let signature = &function.signature;
    let mut types = TokenStream::new();
    for argument in &signature.inputs {
        if let FnArg::Typed(argument) = argument {
            argument.ty.to_tokens(&mut types);
        }
    }
    signature.generics.params.to_tokens(&mut types);
    if let Some(bounds) = &signature.generics.where_clause {
        for bound in &bounds.predicates {
            match bound {
                WherePredicate::Type(bound) if is_lone_self(&bound.bounded_ty) => {
                    for other in &bound.bounds {
                        if !holds_for_both(other) {
                            bound.bounded_ty.to_tokens(&mut types);
                            other.to_tokens(&mut types);
                        }
                    }
                }
                bound => bound.to_tokens(&mut types),
            }
        }
    }
    if !returns_self(function) {
        function.return_type().to_tokens(&mut types);
    }
    find_self(types)
}

/// Whether a bound on `Self` holds for the client where it does for the decorator.
fn holds_for_both(bound: &TypeParamBound) -> bool {
    match bound {
        TypeParamBound::Lifetime(_) => true,
        TypeParamBound::Trait(bound) => ends_with(&bound.path, &["Sized", "Send", "Sync", "Unpin"]),
        _ => false,
    }
}

/// The first `Self`, except in `Self::Item` and `<Self as Trait>`, which are the client's own.
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

fn is_lone_self(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Self"))
}

pub(super) fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}
