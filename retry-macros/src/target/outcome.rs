//! The return type of an annotated function, and the type of an attempt's outcome.

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

/// The way a function returns its outcome.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The return type is the outcome.
    Direct,
    /// `impl Future<Output = …>`
    Future,
    /// `Pin<Box<dyn Future<Output = …>>>` or an alias of `futures` for it.
    BoxedFuture,
}

/// The outcome in a return type, and its delivery.
pub(crate) fn split(returned: &Type) -> (&Type, Delivery) {
    let returned = ungrouped(returned);
    match returned {
        Type::ImplTrait(future) => match associated_type(&future.bounds, FUTURE) {
            Some(outcome) => (outcome, Delivery::Future),
            None => (returned, Delivery::Direct),
        },
        _ => match boxed_output(returned, FUTURE) {
            Some(outcome) => (outcome, Delivery::BoxedFuture),
            None => (returned, Delivery::Direct),
        },
    }
}

/// The part of an outcome that is a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamPart {
    /// The outcome itself.
    Outcome,
    /// The value of a `Result`.
    Value,
}

/// A stream in an outcome.
pub(crate) struct Streamed<'a> {
    /// The item type.
    pub(crate) item: &'a Type,
    /// The stream's own type.
    pub(crate) stream: &'a Type,
    pub(crate) part: StreamPart,
}

/// The stream in an outcome: the outcome itself, or its first type argument, as in `Result<impl Stream<…>, E>`.
pub(crate) fn stream(outcome: &Type) -> Option<Streamed<'_>> {
    stream_type(outcome, StreamPart::Outcome).or_else(|| {
        let value = type_args(last_segment(outcome)?).next()?;
        stream_type(value, StreamPart::Value)
    })
}

fn stream_type(ty: &Type, part: StreamPart) -> Option<Streamed<'_>> {
    let ty = ungrouped(ty);
    let item = match ty {
        Type::ImplTrait(stream) => associated_type(&stream.bounds, STREAM)?,
        _ => boxed_output(ty, STREAM)?,
    };
    let stream = ty;
    Some(Streamed { item, stream, part })
}

/// True if a future or a stream is `'static`: it has the bound `'static`, a `use<…>` without lifetimes, or is a box
/// without a lifetime.
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
    boxed_object(segment).is_some_and(|object| object.bounds.iter().all(is_static))
}

/// The name of a trait, and of its relevant associated type.
type KnownTrait = (&'static str, &'static str);

const FUTURE: KnownTrait = ("Future", "Output");
const INTO_FUTURE: KnownTrait = ("IntoFuture", "Output");
const STREAM: KnownTrait = ("Stream", "Item");

/// The associated type of this trait, or of its fused variant, among some bounds.
fn associated_type(
    bounds: &Punctuated<TypeParamBound, Token![+]>,
    (name, associated): KnownTrait,
) -> Option<&Type> {
    bounds.iter().find_map(|bound| {
        let segment = trait_segment(bound)?;
        let found = segment.ident.to_string();
        let mut arguments = arguments(segment).filter(|_| found.trim_start_matches("Fused") == name);
        arguments.find_map(|argument| {
            as_variant!(argument, GenericArgument::AssocType(ty) if ty.ident == associated => &ty.ty)
        })
    })
}

fn trait_segment(bound: &TypeParamBound) -> Option<&PathSegment> {
    as_variant!(bound, TypeParamBound::Trait(bound) => bound.path.segments.last()?)
}

/// The associated type of `Pin<Box<dyn Trait<…>>>`, or of an alias of the crate `futures` such as `BoxFuture<'_, …>`.
fn boxed_output(returned: &Type, known: KnownTrait) -> Option<&Type> {
    let segment = last_segment(returned)?;
    let found = segment.ident.to_string();
    match found.trim_start_matches("Local").strip_prefix("Box") {
        Some(name) if name == known.0 => type_args(segment).next(),
        _ => associated_type(&boxed_object(segment)?.bounds, known),
    }
}

/// The object in a `Pin<Box<dyn Trait>>`.
fn boxed_object(segment: &PathSegment) -> Option<&TypeTraitObject> {
    let pin = Some(segment).filter(|segment| segment.ident == "Pin")?;
    let inner = last_segment(type_args(pin).next()?).filter(|segment| segment.ident == "Box")?;
    as_variant!(ungrouped(type_args(inner).next()?), Type::TraitObject(object) => object)
}

/// The span for errors about the error type: the second type argument, as in `Result<T, E>`, or the whole type if an
/// alias hides it.
pub(crate) fn error_span(outcome: &Type) -> Span {
    let ty = last_segment(outcome).and_then(|segment| type_args(segment).nth(1));
    ty.unwrap_or(outcome).span()
}

/// True if the type is written as `Result<…>`.
pub(crate) fn is_result(outcome: &Type) -> bool {
    last_segment(outcome)
        .is_some_and(|segment| segment.ident == "Result" && !segment.arguments.is_none())
}

/// True if the type's name ends with `Result`: `Result`, `io::Result`, `QueryResult`, …
pub(crate) fn is_named_result(outcome: &Type) -> bool {
    last_segment(outcome).is_some_and(|segment| names_result(&segment.ident))
}

fn names_result(name: &Ident) -> bool {
    name.to_string().ends_with("Result")
}

/// The name of a result type anywhere in a type, as in `Option<io::Result<…>>`. Ignores names without arguments, which
/// may be any struct, as in `Vec<SearchResult>`, and the arguments of closures.
pub(crate) fn find_result(tokens: TokenStream) -> Option<Ident> {
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
                if let Some(name) = find_result(group.stream()) {
                    return Some(name);
                }
            }
            _ => is_called = false,
        }
    }
    None
}

/// A future of a result in the value of a result, as in `Result<BoxFuture<'_, Result<…>>, E>`, or a type that looks
/// like an alias of one, as in `Result<RedisFuture<'_, T>, E>`. An alias must have a lifetime, which type parameters
/// and concrete futures lack.
pub(crate) fn inner_future(outcome: &Type) -> Option<&Type> {
    let value = value_of_result(outcome)?;
    let is_alias = last_segment(value).is_some_and(|segment| {
        let is_lifetime = |argument| matches!(argument, &GenericArgument::Lifetime(_));
        let name = segment.ident.to_string();
        (name.ends_with("Future") || name.ends_with("Fut")) && arguments(segment).any(is_lifetime)
    });
    let is_hidden = is_alias && split(value).1 == Delivery::Direct;
    future_of_result(value).or_else(|| is_hidden.then_some(value))
}

pub(crate) fn value_of_result(outcome: &Type) -> Option<&Type> {
    let result = last_segment(outcome).filter(|segment| names_result(&segment.ident))?;
    type_args(result).next()
}

/// A `Result` in the value of another, directly or in a tuple or an `Option`, as in `Result<Result<T, E>, Elapsed>`. A
/// `Result` in a collection is the outcome of one item.
pub(crate) fn inner_result(outcome: &Type) -> Option<&Type> {
    fn within(ty: &Type) -> Option<&Type> {
        match ungrouped(ty) {
            Type::Tuple(tuple) => tuple.elems.iter().find_map(within),
            _ if is_result(ty) => Some(ty),
            _ => type_args(last_segment(ty).filter(|segment| segment.ident == "Option")?)
                .find_map(within),
        }
    }
    within(value_of_result(outcome)?)
}

/// A future of a result, directly or in a tuple, an `Option` or a `Vec`.
fn future_of_result(ty: &Type) -> Option<&Type> {
    let (inner, delivery) = split(ty);
    if delivery != Delivery::Direct {
        return is_named_result(inner).then_some(ty);
    }
    match ungrouped(ty) {
        Type::Tuple(tuple) => tuple.elems.iter().find_map(future_of_result),
        Type::ImplTrait(hidden) => {
            let output = associated_type(&hidden.bounds, INTO_FUTURE)?;
            is_named_result(output).then_some(ty)
        }
        _ => {
            let segment = last_segment(ty)?;
            let inner = type_args(segment).next()?;
            let output = match (segment.ident.to_string().as_str(), ungrouped(inner)) {
                ("Option" | "Vec", _) => return future_of_result(inner),
                ("Box", Type::TraitObject(object)) => associated_type(&object.bounds, FUTURE)?,
                ("Ready", inner) => inner,
                _ => return None,
            };
            is_named_result(output).then_some(ty)
        }
    }
}

/// The name of a type that seems to be a future or a stream whose output is unknown, such as `RedisFuture`, or of the
/// trait in `Box<dyn Future<…>>`.
pub(crate) fn hidden_future(returned: &Type) -> Option<&Ident> {
    let (outcome, delivery) = split(returned);
    if delivery != Delivery::Direct || stream(outcome).is_some() {
        return None;
    }
    future_like(returned)
}

fn future_like(ty: &Type) -> Option<&Ident> {
    let bounds = match ungrouped(ty) {
        Type::ImplTrait(hidden) => &hidden.bounds,
        Type::TraitObject(object) => &object.bounds,
        _ => {
            let segment = last_segment(ty)?;
            if segment.ident == "Pin" || segment.ident == "Box" {
                return type_args(segment).next().and_then(future_like);
            }
            return future_like_name(&segment.ident);
        }
    };
    bounds
        .iter()
        .find_map(|bound| future_like_name(&trait_segment(bound)?.ident))
}

fn future_like_name(name: &Ident) -> Option<&Ident> {
    // Byte streams and token streams don't yield results.
    const BYTE_STREAMS: &str = "DuplexStream TcpStream TlsStream TokenStream UnixStream";
    let text = name.to_string();
    let mut kinds = ["Future", "Fut", "Stream"].iter();
    let seems = kinds.any(|kind| text.ends_with(kind)) && !is_among(BYTE_STREAMS, &text);
    seems.then_some(name)
}

/// The outcome's type for use inside the body, where `impl Trait` is not allowed.
pub(crate) fn erase_impl_trait(outcome: &Type) -> Type {
    let mut erased = outcome.clone();
    erase(&mut erased, |span| parse_quote_spanned!(span=> _));
    erased
}

/// A type with the same error type, in which nothing else is inferred.
pub(crate) fn without_value(outcome: &Type) -> Type {
    let mut erased = outcome.clone();
    let error = error_of_result(&mut erased).map(|error| erase_impl_trait(error));
    erase(&mut erased, unit_type);
    if let (Some(in_place), Some(error)) = (error_of_result(&mut erased), error) {
        *in_place = error;
    }
    erased
}

/// True if the type contains `_`.
pub(crate) fn is_inferred(ty: &Type) -> bool {
    mentions(ty.to_token_stream(), "_")
}

/// A type with the same value type, in which nothing else is inferred.
pub(crate) fn without_error(outcome: &Type) -> Type {
    let mut erased = outcome.clone();
    if let Some(error) = error_of_result(&mut erased) {
        erase(error, unit_type);
    }
    erase_impl_trait(&erased)
}

pub(crate) fn unit_type(span: Span) -> Type {
    parse_quote_spanned!(span=> ())
}

/// The `E` of a type called `Result<T, E>`. An alias doesn't show which argument is the error.
fn error_of_result(outcome: &mut Type) -> Option<&mut Type> {
    let segment = last_segment_mut(outcome).filter(|segment| segment.ident == "Result")?;
    type_arg_mut(segment, 1)
}

fn erase(ty: &mut Type, with: fn(Span) -> Type) {
    let ty = ungrouped_mut(ty);
    match ty {
        Type::ImplTrait(impl_trait) => *ty = with(impl_trait.impl_token.span),
        Type::Infer(infer) => *ty = with(infer.underscore_token.span),
        Type::Path(path) => {
            let arguments = path.path.segments.iter_mut().flat_map(arguments_mut);
            for argument in arguments {
                if let GenericArgument::Type(ty) = argument {
                    erase(ty, with);
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

/// A boxed future or stream for one attempt, with an inferred lifetime.
pub(crate) fn with_inferred_lifetime(mut boxed: Type) -> Type {
    infer_lifetime(&mut boxed);
    boxed
}

/// An outcome whose boxed stream has an inferred lifetime.
pub(crate) fn with_inferred_stream(outcome: &Type, part: StreamPart) -> Type {
    let mut shorter = outcome.clone();
    let stream = match part {
        StreamPart::Outcome => Some(&mut shorter),
        StreamPart::Value => last_segment_mut(&mut shorter).and_then(|it| type_arg_mut(it, 0)),
    };
    if let Some(stream) = stream {
        infer_lifetime(stream);
    }
    shorter
}

fn infer_lifetime(ty: &mut Type) {
    let any = Lifetime::new("'_", ty.span());
    match ungrouped_mut(ty) {
        Type::TraitObject(object) => {
            let bounds = mem::take(&mut object.bounds).into_iter();
            object.bounds = bounds
                .filter(|bound| !matches!(bound, TypeParamBound::Lifetime(_)))
                .collect();
            object.bounds.push(TypeParamBound::Lifetime(any));
        }
        ty => {
            let Some(segment) = last_segment_mut(ty) else {
                return;
            };
            let is_alias = segment.ident != "Pin" && segment.ident != "Box";
            for argument in arguments_mut(segment) {
                match argument {
                    GenericArgument::Lifetime(lifetime) if is_alias => *lifetime = any.clone(),
                    GenericArgument::Type(ty) if !is_alias => infer_lifetime(ty),
                    _ => {}
                }
            }
        }
    }
}

/// The reference, if the type is one.
pub(crate) fn as_reference(ty: &Type) -> Option<&TypeReference> {
    as_variant!(ungrouped(ty), Type::Reference(reference) => reference)
}

/// The reference in an `Option<&T>`.
pub(crate) fn optional_reference(ty: &Type) -> Option<&TypeReference> {
    let option = last_segment(ty).filter(|segment| segment.ident == "Option")?;
    type_args(option).next().and_then(as_reference)
}

/// The first part of a type whose lifetime, or elided lifetime, meets the condition. Skips function types, and `Cow`,
/// which may be owned.
pub(crate) fn borrow_in<'a>(
    ty: &'a Type,
    is_match: &dyn Fn(Option<&Lifetime>) -> bool,
) -> Option<&'a Type> {
    let within = |ty| borrow_in(ty, is_match);
    let ty = ungrouped(ty);
    let among = |bounds: &Punctuated<TypeParamBound, Token![+]>| {
        let mut bounds = bounds.iter();
        bounds.any(
            |bound| matches!(bound, TypeParamBound::Lifetime(lifetime) if is_match(Some(lifetime))),
        )
    };
    match ty {
        Type::Reference(reference) if is_match(reference.lifetime.as_ref()) => Some(ty),
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
                    GenericArgument::Lifetime(lifetime) => is_match(Some(lifetime)).then_some(ty),
                    GenericArgument::Type(ty) => within(ty),
                    _ => None,
                })
            }),
        _ => None,
    }
}

/// True if the type is clearly not a result. Aliases are left to the compiler.
pub(crate) fn is_no_result(ty: &Type) -> bool {
    const PRELUDE_TYPES: &str = "bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 \
        f64 String Vec Option";
    match ungrouped(ty) {
        Type::Path(path) => {
            let lone = last_segment(ty).filter(|_| path.path.segments.len() == 1);
            path.qself.is_none()
                && lone.is_some_and(|lone| is_among(PRELUDE_TYPES, &lone.ident.to_string()))
        }
        Type::ImplTrait(_) | Type::Infer(_) | Type::Macro(_) | Type::Verbatim(_) => false,
        _ => true,
    }
}

/// True for an `impl Trait`.
pub(crate) fn is_opaque(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::ImplTrait(_))
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    as_variant!(ungrouped(ty), Type::Path(path) => path.path.segments.last()?)
}

fn last_segment_mut(ty: &mut Type) -> Option<&mut PathSegment> {
    as_variant!(ungrouped_mut(ty), Type::Path(path) => path.path.segments.last_mut()?)
}

/// The type argument at this index.
fn type_arg_mut(segment: &mut PathSegment, index: usize) -> Option<&mut Type> {
    let types = arguments_mut(segment);
    let mut types = types.filter_map(|it| as_variant!(it, GenericArgument::Type(ty) => ty));
    types.nth(index)
}

/// Removes parentheses, and the invisible group in which `macro_rules!` passes a type.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        _ => ty,
    }
}

fn ungrouped_mut(ty: &mut Type) -> &mut Type {
    match ty {
        Type::Group(group) => ungrouped_mut(&mut group.elem),
        Type::Paren(paren) => ungrouped_mut(&mut paren.elem),
        ty => ty,
    }
}

fn arguments(segment: &PathSegment) -> impl Iterator<Item = &GenericArgument> {
    let arguments = as_variant!(&segment.arguments, PathArguments::AngleBracketed(it) => it);
    arguments.into_iter().flat_map(|it| &it.args)
}

fn arguments_mut(segment: &mut PathSegment) -> impl Iterator<Item = &mut GenericArgument> {
    let arguments = as_variant!(&mut segment.arguments, PathArguments::AngleBracketed(it) => it);
    arguments.into_iter().flat_map(|it| &mut it.args)
}

fn type_args(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    arguments(segment).filter_map(|it| as_variant!(it, GenericArgument::Type(ty) => ty))
}
