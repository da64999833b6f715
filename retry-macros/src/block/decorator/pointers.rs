//! The key `forward`: the trait for pointers, such as `Box<dyn Model>`, by what they point to.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use syn::spanned::Spanned;
use syn::{Path, WherePredicate};

use crate::block::decorator::handed_on::{
    Given, Lent, capture, given, is_cfg, lent, returns_self, stays_with_decorator,
};
use crate::block::decorator::wrapped::Wrapped;
use crate::block::members::Member;
use crate::errors::{Errors, error};
use crate::target::function::{Body, Function};
use crate::tokens::{code_at, ends_with, shown};

/// What an impl of the trait for that pointer consists of.
pub(super) fn members(
    pointer: &Path,
    pointed: &Wrapped,
    members: &[Member],
    errors: &mut Errors,
) -> TokenStream {
    let mut implemented = TokenStream::new();
    for member in members {
        match member {
            // What is wrong with it is said of the decorator.
            Member::Other(tokens) => {
                if let Ok(item) = syn::parse2(tokens.clone()) {
                    pointed
                        .other(&item, &mut Errors::default())
                        .to_tokens(&mut implemented);
                }
            }
            Member::Function(method) => {
                let mut function = method.function.clone();
                capture(&mut function, pointed.client);
                match (cannot_lend(pointer, &function), &function.body) {
                    (None, _) => implemented.append_all(forwarded(pointed, function)),
                    // Its default body calls methods that are lent.
                    (Some(_), Body::Block(_)) => {}
                    (Some(why), Body::Missing(_)) => {
                        let (name, shown) = (&function.signature.ident, shown(pointer));
                        errors.push(error!(pointer.span() =>
                            "`{name}` {why}, so `{shown}` can't forward it: give `{name}` a default body, or remove `{shown}` here"));
                    }
                }
            }
        }
    }
    implemented
}

/// Why a method of what the pointer points to can't be called.
fn cannot_lend(pointer: &Path, function: &Function) -> Option<&'static str> {
    let receiver = function.signature.receiver();
    if stays_with_decorator(function).is_some() || returns_self(function) {
        return Some("names `Self`");
    }
    if is_sized(function) {
        return Some("is `where Self: Sized`");
    }
    let is_shared = ends_with(pointer, &["Arc", "Rc"]);
    match receiver.and_then(Lent::of) {
        Some(Lent::Value) => Some("takes `self` by value"),
        Some(Lent::Mutable) if is_shared => Some("takes `&mut self`"),
        _ => None,
    }
}

/// Whether what a pointer points to may lack the method.
fn is_sized(function: &Function) -> bool {
    let bounds = &function.signature.generics.where_clause;
    bounds.as_ref().is_some_and(|bounds| {
        bounds.predicates.iter().any(|bound| {
            matches!(bound, WherePredicate::Type(bound)
                if bound.bounded_ty.to_token_stream().to_string() == "Self"
                    && bound.bounds.to_token_stream().to_string().contains("Sized"))
        })
    })
}

/// The method, by that of what the pointer points to.
fn forwarded(pointed: &Wrapped, mut function: Function) -> TokenStream {
    function.attributes.retain(is_cfg);
    let given = given(&mut function, &mut Errors::default());
    let lent = lent(&function, |this| {
        let span = Span::call_site().located_at(this.span());
        code_at!(span=> **#this)
    });
    let mut arguments = given.iter().map(Given::handed_on);
    let call = pointed.call(&function, lent, &mut arguments, function.is_async());
    function.body = Body::Block(Group::new(Delimiter::Brace, call.into_token_stream()));
    function.to_token_stream()
}
