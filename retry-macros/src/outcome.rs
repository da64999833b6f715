//! What an annotated function returns: its type as written, and that of one attempt.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    AngleBracketedGenericArguments, GenericArgument, PathArguments, PathSegment, Token, Type,
    TypeInfer, TypeParamBound, TypeReference,
};

/// How a function hands its outcome over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The return type is the outcome.
    Direct,
    /// `impl Future<Output = …>`
    Future,
    /// `Pin<Box<dyn Future<Output = …>>>` or an alias of `futures` for it.
    BoxedFuture,
}

/// The outcome in a return type, and how it is delivered.
pub(crate) fn of(returned: &Type) -> (&Type, Delivery) {
    match returned {
        Type::Group(group) => of(&group.elem),
        Type::Paren(paren) => of(&paren.elem),
        Type::ImplTrait(future) => match output(&future.bounds) {
            Some(outcome) => (outcome, Delivery::Future),
            None => (returned, Delivery::Direct),
        },
        _ => match boxed(returned) {
            Some(outcome) => (outcome, Delivery::BoxedFuture),
            None => (returned, Delivery::Direct),
        },
    }
}

/// The `Output` of the `Future` among some bounds.
fn output(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<&Type> {
    bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else {
            return None;
        };
        let future = bound.path.segments.last()?;
        if future.ident != "Future" {
            return None;
        }
        arguments(future).find_map(|argument| match argument {
            GenericArgument::AssocType(output) if output.ident == "Output" => Some(&output.ty),
            _ => None,
        })
    })
}

/// The outcome of `Pin<Box<dyn Future<Output = …>>>`, `BoxFuture<'_, …>` or `LocalBoxFuture<'_, …>`.
fn boxed(returned: &Type) -> Option<&Type> {
    let segment = last_segment(returned)?;
    if segment.ident == "BoxFuture" || segment.ident == "LocalBoxFuture" {
        return types(segment).next();
    }
    let inner = (segment.ident == "Pin")
        .then(|| types(segment).next())
        .flatten()?;
    let inner = last_segment(inner).filter(|segment| segment.ident == "Box")?;
    match types(inner).next()? {
        Type::TraitObject(future) => output(&future.bounds),
        Type::Paren(paren) => match &*paren.elem {
            Type::TraitObject(future) => output(&future.bounds),
            _ => None,
        },
        _ => None,
    }
}

/// Where a complaint about the error type points: the last type in the outcome's angle brackets, as in
/// `Result<T, E>`, or the whole where an alias hides it.
pub(crate) fn error_span(outcome: &Type) -> Span {
    let segment = last_segment(outcome);
    let error = segment.and_then(|segment| types(segment).nth(1));
    error.map_or_else(|| outcome.span(), Spanned::span)
}

/// Whether the type is called a result: `Result`, `io::Result`, `QueryResult`, …
pub(crate) fn is_named_result(outcome: &Type) -> bool {
    last_segment(outcome).is_some_and(|segment| segment.ident.to_string().ends_with("Result"))
}

/// The outcome's type for use inside the body, where `impl Trait` can't be written.
pub(crate) fn erase_impl_trait(outcome: &Type) -> Type {
    let mut erased = outcome.clone();
    erase(&mut erased);
    erased
}

fn erase(ty: &mut Type) {
    match ty {
        Type::ImplTrait(impl_trait) => {
            *ty = Type::Infer(TypeInfer {
                attrs: Vec::new(),
                underscore_token: Token![_](impl_trait.impl_token.span),
            });
        }
        Type::Path(path) => {
            for segment in &mut path.path.segments {
                if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                    erase_arguments(arguments);
                }
            }
        }
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(erase),
        Type::Array(array) => erase(&mut array.elem),
        Type::Group(group) => erase(&mut group.elem),
        Type::Paren(paren) => erase(&mut paren.elem),
        Type::Ptr(ptr) => erase(&mut ptr.elem),
        Type::Reference(reference) => erase(&mut reference.elem),
        Type::Slice(slice) => erase(&mut slice.elem),
        _ => {}
    }
}

fn erase_arguments(arguments: &mut AngleBracketedGenericArguments) {
    for argument in &mut arguments.args {
        if let GenericArgument::Type(ty) = argument {
            erase(ty);
        }
    }
}

/// The type as a reference, if it is one.
pub(crate) fn as_reference(ty: &Type) -> Option<&TypeReference> {
    match ty {
        Type::Reference(reference) => Some(reference),
        Type::Group(group) => as_reference(&group.elem),
        Type::Paren(paren) => as_reference(&paren.elem),
        _ => None,
    }
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

fn arguments(segment: &PathSegment) -> impl Iterator<Item = &GenericArgument> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    };
    arguments.into_iter().flatten()
}

fn types(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    arguments(segment).filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
