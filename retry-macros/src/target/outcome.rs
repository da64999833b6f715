//! What an annotated function returns: its type as written, and the type of one attempt's outcome.

use std::mem;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    CapturedParam, GenericArgument, Ident, Lifetime, PathArguments, PathSegment, Token, Type,
    TypeParamBound, TypeReference, TypeTraitObject, parse_quote_spanned,
};

use crate::as_variant::as_variant;
use crate::tokens::{is_among, mentions};

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
    let returned = bare(returned);
    match returned {
        Type::ImplTrait(future) => match associated(&future.bounds, FUTURE) {
            Some(outcome) => (outcome, Delivery::Future),
            None => (returned, Delivery::Direct),
        },
        _ => match boxed(returned, FUTURE) {
            Some(outcome) => (outcome, Delivery::BoxedFuture),
            None => (returned, Delivery::Direct),
        },
    }
}

/// Which part of an outcome is a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamPart {
    /// The outcome itself.
    Outcome,
    /// The value of a `Result`.
    Value,
}

/// A stream in an outcome.
pub(crate) struct Streamed<'a> {
    /// What it yields.
    pub(crate) item: &'a Type,
    /// The stream's own type.
    pub(crate) stream: &'a Type,
    /// A type, where it is a box.
    pub(crate) boxed: Option<&'a Type>,
    /// Whether its type says that it borrows nothing.
    pub(crate) is_static: bool,
    pub(crate) part: StreamPart,
}

/// The stream that an outcome is, or that its first type in angle brackets is, as in `Result<impl Stream<…>, E>`.
pub(crate) fn stream(outcome: &Type) -> Option<Streamed<'_>> {
    bare_stream(outcome, StreamPart::Outcome).or_else(|| {
        let value = types(last_segment(outcome)?).next()?;
        bare_stream(value, StreamPart::Value)
    })
}

fn bare_stream(ty: &Type, part: StreamPart) -> Option<Streamed<'_>> {
    let ty = bare(ty);
    let (item, boxed) = match ty {
        Type::ImplTrait(stream) => (associated(&stream.bounds, STREAM)?, None),
        _ => (boxed(ty, STREAM)?, Some(ty)),
    };
    Some(Streamed {
        item,
        stream: ty,
        boxed,
        is_static: is_static(ty),
        part,
    })
}

/// Whether a future or a stream names `'static`, or no lifetime in `use<…>`. A box that names no lifetime means the same.
pub(crate) fn is_static(ty: &Type) -> bool {
    if let Type::ImplTrait(hidden) = ty {
        return hidden.bounds.iter().any(|bound| match bound {
            TypeParamBound::Lifetime(lifetime) => lifetime.ident == "static",
            TypeParamBound::PreciseCapture(captured) => !captured
                .params
                .iter()
                .any(|captured| matches!(captured, CapturedParam::Lifetime(_))),
            _ => false,
        });
    }
    let Some(segment) = last_segment(ty) else {
        return false;
    };
    if segment.ident != "Pin" {
        let lifetime = arguments(segment)
            .find_map(|argument| as_variant!(argument, GenericArgument::Lifetime(it) => it));
        return lifetime.is_some_and(|lifetime| lifetime.ident == "static");
    }
    let is_static = |bound: &TypeParamBound| !matches!(bound, TypeParamBound::Lifetime(lifetime) if lifetime.ident != "static");
    pinned(segment).is_some_and(|object| object.bounds.iter().all(is_static))
}

/// A trait whose associated type matters, and the aliases of the crate `futures` for a box of it.
struct KnownTrait {
    names: &'static [&'static str],
    associated: &'static str,
    aliases: [&'static str; 2],
}

const FUTURE: &KnownTrait = &KnownTrait {
    names: &["Future"],
    associated: "Output",
    aliases: ["BoxFuture", "LocalBoxFuture"],
};

const INTO_FUTURE: &KnownTrait = &KnownTrait {
    names: &["IntoFuture"],
    associated: "Output",
    aliases: [""; 2],
};

const STREAM: &KnownTrait = &KnownTrait {
    names: &["Stream", "FusedStream"],
    associated: "Item",
    aliases: ["BoxStream", "LocalBoxStream"],
};

/// The associated type of that trait among some bounds.
fn associated<'a>(
    bounds: &'a Punctuated<TypeParamBound, Token![+]>,
    known: &KnownTrait,
) -> Option<&'a Type> {
    bounds.iter().find_map(|bound| {
        let segment = trait_segment(bound)?;
        if !known.names.iter().any(|name| segment.ident == name) {
            return None;
        }
        arguments(segment).find_map(|argument| {
            as_variant!(argument, GenericArgument::AssocType(ty) if ty.ident == known.associated => &ty.ty)
        })
    })
}

fn trait_segment(bound: &TypeParamBound) -> Option<&PathSegment> {
    as_variant!(bound, TypeParamBound::Trait(bound) => bound.path.segments.last()?)
}

/// The associated type of `Pin<Box<dyn Trait<…>>>` or of an alias for it, as in `BoxFuture<'_, …>`.
fn boxed<'a>(returned: &'a Type, known: &KnownTrait) -> Option<&'a Type> {
    let segment = last_segment(returned)?;
    if known.aliases.iter().any(|alias| segment.ident == alias) {
        return types(segment).next();
    }
    associated(&pinned(segment)?.bounds, known)
}

/// The object in a `Pin<Box<dyn Trait>>`.
fn pinned(segment: &PathSegment) -> Option<&TypeTraitObject> {
    let pin = Some(segment).filter(|segment| segment.ident == "Pin")?;
    let inner = last_segment(types(pin).next()?).filter(|segment| segment.ident == "Box")?;
    as_variant!(bare(types(inner).next()?), Type::TraitObject(object) => object)
}

/// The span of a complaint about the error type: the last type in the outcome's angle brackets, as in
/// `Result<T, E>`, or the whole where an alias hides it.
pub(crate) fn error_span(outcome: &Type) -> Span {
    span_of(outcome, 1)
}

/// Whether the type is written as `Result<…>`, and so needs no check that it is one.
pub(crate) fn is_result(outcome: &Type) -> bool {
    last_segment(outcome)
        .is_some_and(|segment| segment.ident == "Result" && !segment.arguments.is_none())
}

/// Whether the type is called a result: `Result`, `io::Result`, `QueryResult`, …
pub(crate) fn is_named_result(outcome: &Type) -> bool {
    last_segment(outcome).is_some_and(|segment| names_result(&segment.ident))
}

fn names_result(name: &Ident) -> bool {
    name.to_string().ends_with("Result")
}

/// The name of a result anywhere in a type, as in `Option<io::Result<…>>`. Without arguments it may be any struct, as in
/// `Vec<SearchResult>`, and a closure that takes one does not fail by it.
pub(crate) fn result_within(tokens: TokenStream) -> Option<Ident> {
    let mut tokens = tokens.into_iter().peekable();
    let mut is_called = false;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(name) => {
                let has_arguments =
                    matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '<');
                if name == "Result" || has_arguments && names_result(&name) {
                    return Some(name);
                }
                let called = "fn Fn FnMut FnOnce AsyncFn AsyncFnMut AsyncFnOnce";
                is_called = is_among(called, &name.to_string());
            }
            TokenTree::Group(group) if !is_called => {
                if let Some(name) = result_within(group.stream()) {
                    return Some(name);
                }
            }
            _ => is_called = false,
        }
    }
    None
}

/// The future of a result in the value of another, as in `Result<BoxFuture<'_, Result<…>>, E>`; or what looks like an
/// alias of one, as in `Result<RedisFuture<'_, T>, E>`. Other futures of that name, and type parameters, have no lifetime.
pub(crate) fn future_within(outcome: &Type) -> Option<&Type> {
    let result = last_segment(outcome).filter(|segment| names_result(&segment.ident))?;
    let value = types(result).next()?;
    let is_alias = last_segment(value).is_some_and(|segment| {
        let is_lifetime = |argument| matches!(argument, &GenericArgument::Lifetime(_));
        names_future(&segment.ident) && arguments(segment).any(is_lifetime)
    });
    let is_hidden = is_alias && of(value).1 == Delivery::Direct;
    future_of_result(value).or_else(|| is_hidden.then_some(value))
}

/// A `Result` in the value of another, itself or in a tuple or an `Option`, as in `Result<Result<T, E>, Elapsed>`. In a
/// collection it is the outcome of one item.
pub(crate) fn result_in_value(outcome: &Type) -> Option<&Type> {
    let result = last_segment(outcome).filter(|segment| names_result(&segment.ident))?;
    result_beside(types(result).next()?)
}

fn result_beside(ty: &Type) -> Option<&Type> {
    match bare(ty) {
        Type::Tuple(tuple) => tuple.elems.iter().find_map(result_beside),
        _ if is_result(ty) => Some(ty),
        _ => {
            let option = last_segment(ty).filter(|segment| segment.ident == "Option")?;
            types(option).find_map(result_beside)
        }
    }
}

/// A future of a result, itself or in a tuple, an `Option` or a `Vec`.
fn future_of_result(ty: &Type) -> Option<&Type> {
    let (inner, delivery) = of(ty);
    if delivery != Delivery::Direct {
        return is_named_result(inner).then_some(ty);
    }
    match bare(ty) {
        Type::Tuple(tuple) => tuple.elems.iter().find_map(future_of_result),
        Type::ImplTrait(hidden) => {
            let output = associated(&hidden.bounds, INTO_FUTURE)?;
            is_named_result(output).then_some(ty)
        }
        _ => {
            let segment = last_segment(ty)?;
            let inner = types(segment).next()?;
            let output = match (segment.ident.to_string().as_str(), bare(inner)) {
                ("Option" | "Vec", _) => return future_of_result(inner),
                ("Box", Type::TraitObject(object)) => associated(&object.bounds, FUTURE)?,
                ("Ready", inner) => inner,
                _ => return None,
            };
            is_named_result(output).then_some(ty)
        }
    }
}

fn names_future(name: &Ident) -> bool {
    let name = name.to_string();
    name.ends_with("Future") || name.ends_with("Fut")
}

/// The name by which a type seems to be a future or a stream, where nothing says of what: `RedisFuture`, or the trait
/// in `Box<dyn Future<…>>`.
pub(crate) fn hidden(returned: &Type) -> Option<&Ident> {
    let (outcome, delivery) = of(returned);
    if delivery != Delivery::Direct || stream(outcome).is_some() {
        return None;
    }
    seeming(returned)
}

fn seeming(ty: &Type) -> Option<&Ident> {
    let bounds = match bare(ty) {
        Type::ImplTrait(hidden) => &hidden.bounds,
        Type::TraitObject(object) => &object.bounds,
        _ => {
            let segment = last_segment(ty)?;
            if segment.ident == "Pin" || segment.ident == "Box" {
                return types(segment).next().and_then(seeming);
            }
            return seems(&segment.ident);
        }
    };
    bounds
        .iter()
        .find_map(|bound| seems(&trait_segment(bound)?.ident))
}

/// Connections of bytes, and the tokens of a macro, which are no streams of items.
const NO_STREAMS: &str = "DuplexStream TcpStream TlsStream TokenStream UnixStream";

fn seems(name: &Ident) -> Option<&Ident> {
    let text = name.to_string();
    let mut kinds = ["Future", "Fut", "Stream"].iter();
    let seems = kinds.any(|kind| text.ends_with(kind)) && !is_among(NO_STREAMS, &text);
    seems.then_some(name)
}

/// The span of a complaint about the value's type: the first type in the outcome's angle brackets.
#[cfg(feature = "stream")]
pub(crate) fn value_span(outcome: &Type) -> Span {
    span_of(outcome, 0)
}

fn span_of(outcome: &Type, index: usize) -> Span {
    let ty = last_segment(outcome).and_then(|segment| types(segment).nth(index));
    ty.unwrap_or(outcome).span()
}

/// The outcome's type for use inside the body, where `impl Trait` can't be written.
pub(crate) fn erase_impl_trait(outcome: &Type) -> Type {
    let mut erased = outcome.clone();
    erase(&mut erased, |span| parse_quote_spanned!(span=> _));
    erased
}

/// A type with the same error, where nothing is left to be inferred but an error that is an `impl Trait` or `_`.
pub(crate) fn without_value(outcome: &Type) -> Type {
    let mut erased = outcome.clone();
    let error = error_of_result(&mut erased).map(|error| erase_impl_trait(error));
    erase(&mut erased, unit);
    if let (Some(in_place), Some(error)) = (error_of_result(&mut erased), error) {
        *in_place = error;
    }
    erased
}

/// Whether any of the types that a type is made of is left to be inferred.
pub(crate) fn is_inferred(ty: &Type) -> bool {
    mentions(ty.to_token_stream(), "_")
}

/// A type with the same value, where nothing is left to be inferred but a value that is an `impl Trait` or `_`.
pub(crate) fn without_error(outcome: &Type) -> Type {
    let mut erased = outcome.clone();
    if let Some(error) = error_of_result(&mut erased) {
        erase(error, unit);
    }
    erase_impl_trait(&erased)
}

pub(crate) fn unit(span: Span) -> Type {
    parse_quote_spanned!(span=> ())
}

/// The `E` of a `Result<T, E>` by that name. Of an alias, nobody knows which type is the error.
fn error_of_result(outcome: &mut Type) -> Option<&mut Type> {
    let segment = last_segment_mut(outcome).filter(|segment| segment.ident == "Result")?;
    type_mut(segment, 1)
}

fn erase(ty: &mut Type, with: fn(Span) -> Type) {
    let ty = bare_mut(ty);
    match ty {
        Type::ImplTrait(impl_trait) => *ty = with(impl_trait.impl_token.span),
        Type::Infer(infer) => *ty = with(infer.underscore_token.span),
        Type::Path(path) => {
            for segment in &mut path.path.segments {
                let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else {
                    continue;
                };
                for argument in &mut arguments.args {
                    if let GenericArgument::Type(ty) = argument {
                        erase(ty, with);
                    }
                }
            }
        }
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|ty| erase(ty, with)),
        Type::Array(array) => erase(&mut array.elem, with),
        Type::Ptr(ptr) => erase(&mut ptr.elem, with),
        Type::Reference(reference) => erase(&mut reference.elem, with),
        Type::Slice(slice) => erase(&mut slice.elem, with),
        _ => {}
    }
}

/// A boxed future or stream for one attempt: how long it lives is left to the compiler.
pub(crate) fn shorter(boxed: &Type) -> Type {
    let mut boxed = boxed.clone();
    shorten(&mut boxed);
    boxed
}

/// An outcome whose boxed stream lives as long as the compiler finds.
pub(crate) fn with_shorter_stream(outcome: &Type, part: StreamPart) -> Type {
    let mut shorter = outcome.clone();
    let stream = match part {
        StreamPart::Outcome => Some(&mut shorter),
        StreamPart::Value => last_segment_mut(&mut shorter).and_then(|value| type_mut(value, 0)),
    };
    if let Some(stream) = stream {
        shorten(stream);
    }
    shorter
}

fn shorten(ty: &mut Type) {
    let any = Lifetime::new("'_", ty.span());
    match bare_mut(ty) {
        Type::TraitObject(object) => {
            for bound in mem::take(&mut object.bounds) {
                if !matches!(bound, TypeParamBound::Lifetime(_)) {
                    object.bounds.push(bound);
                }
            }
            object.bounds.push(TypeParamBound::Lifetime(any));
        }
        Type::Path(path) => {
            let Some(segment) = path.path.segments.last_mut() else {
                return;
            };
            let is_alias = segment.ident != "Pin" && segment.ident != "Box";
            if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                for argument in &mut arguments.args {
                    match argument {
                        GenericArgument::Lifetime(lifetime) if is_alias => *lifetime = any.clone(),
                        GenericArgument::Type(ty) if !is_alias => shorten(ty),
                        _ => {}
                    }
                }
            }
        }
        _ => {}
    }
}

/// The type as a reference, if it is one.
pub(crate) fn as_reference(ty: &Type) -> Option<&TypeReference> {
    as_variant!(bare(ty), Type::Reference(reference) => reference)
}

/// The reference in an `Option<&T>`.
pub(crate) fn optional_reference(ty: &Type) -> Option<&TypeReference> {
    let option = last_segment(ty).filter(|segment| segment.ident == "Option")?;
    types(option).next().and_then(as_reference)
}

/// The first part of a type with a lifetime that is meant, or with one left out. Generic arguments of functions don't
/// count, nor does a `Cow`, which may own.
pub(crate) fn borrowing<'a>(
    ty: &'a Type,
    is_meant: &dyn Fn(Option<&Lifetime>) -> bool,
) -> Option<&'a Type> {
    let within = |ty| borrowing(ty, is_meant);
    let ty = bare(ty);
    let among = |bounds: &Punctuated<TypeParamBound, Token![+]>| {
        let mut bounds = bounds.iter();
        bounds.any(
            |bound| matches!(bound, TypeParamBound::Lifetime(lifetime) if is_meant(Some(lifetime))),
        )
    };
    match ty {
        Type::Reference(reference) if is_meant(reference.lifetime.as_ref()) => Some(ty),
        Type::Reference(reference) => within(&reference.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(within),
        Type::ImplTrait(hidden) => among(&hidden.bounds).then_some(ty),
        Type::TraitObject(object) => among(&object.bounds).then_some(ty),
        Type::Path(path) => path
            .path
            .segments
            .iter()
            .filter(|segment| segment.ident != "Cow")
            .find_map(|segment| {
                arguments(segment).find_map(|argument| match argument {
                    GenericArgument::Lifetime(lifetime) => is_meant(Some(lifetime)).then_some(ty),
                    GenericArgument::Type(ty) => within(ty),
                    _ => None,
                })
            }),
        _ => None,
    }
}

/// Whether the written type alone shows that it is not a result. Aliases are left to the compiler.
pub(crate) fn is_no_result(ty: &Type) -> bool {
    const OF_THE_PRELUDE: &str = "bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 \
        f64 String Vec Option";
    match bare(ty) {
        Type::Path(path) => {
            let name = path.path.segments.first();
            path.qself.is_none()
                && path.path.segments.len() == 1
                && name.is_some_and(|name| is_among(OF_THE_PRELUDE, &name.ident.to_string()))
        }
        Type::Array(_)
        | Type::FnPtr(_)
        | Type::Never(_)
        | Type::Ptr(_)
        | Type::Reference(_)
        | Type::Slice(_)
        | Type::TraitObject(_)
        | Type::Tuple(_) => true,
        _ => false,
    }
}

/// Whether a type is an `impl Trait`: nobody sees more of it than the trait.
pub(crate) fn is_opaque(ty: &Type) -> bool {
    matches!(bare(ty), Type::ImplTrait(_))
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    as_variant!(bare(ty), Type::Path(path) => path.path.segments.last()?)
}

fn last_segment_mut(ty: &mut Type) -> Option<&mut PathSegment> {
    as_variant!(bare_mut(ty), Type::Path(path) => path.path.segments.last_mut()?)
}

/// The type at that index in a segment's angle brackets.
fn type_mut(segment: &mut PathSegment, index: usize) -> Option<&mut Type> {
    let arguments = as_variant!(&mut segment.arguments, PathArguments::AngleBracketed(it) => it)?;
    let arguments = arguments.args.iter_mut();
    let types = arguments.filter_map(|it| as_variant!(it, GenericArgument::Type(ty) => ty));
    types.into_iter().nth(index)
}

/// What is in parentheses, or in an invisible group, in which `macro_rules!` hands a type over.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        _ => ty,
    }
}

fn bare_mut(ty: &mut Type) -> &mut Type {
    match ty {
        Type::Group(group) => bare_mut(&mut group.elem),
        Type::Paren(paren) => bare_mut(&mut paren.elem),
        ty => ty,
    }
}

fn arguments(segment: &PathSegment) -> impl Iterator<Item = &GenericArgument> {
    let arguments = as_variant!(&segment.arguments, PathArguments::AngleBracketed(it) => it);
    arguments.into_iter().flat_map(|it| &it.args)
}

fn types(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    arguments(segment).filter_map(|it| as_variant!(it, GenericArgument::Type(ty) => ty))
}
