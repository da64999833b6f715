//! Rules across arguments and target; all mistakes at once.

use std::time::Duration;

use syn::spanned::Spanned;
use syn::{Expr, GenericArgument, Lifetime, PathArguments, Type};

use crate::argument::{Argument, Value};
use crate::function::{Body, Function};
use crate::key::Key;
use crate::outcome::{self, Delivery};
use crate::parse::Arguments;
use crate::stream;

pub(crate) fn check(arguments: &Arguments, function: &Function) -> syn::Result<()> {
    let mut errors = Errors(arguments.errors.clone());
    repeated(&arguments.given, &mut errors);
    conflicts(arguments, &mut errors);
    schedules(arguments, &mut errors);
    target(arguments, function, &mut errors);
    errors.into_result()
}

struct Errors(Vec<syn::Error>);

impl Errors {
    fn at(&mut self, place: &impl Spanned, message: String) {
        self.0.push(syn::Error::new(place.span(), message));
    }

    fn into_result(self) -> syn::Result<()> {
        let all = self.0.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        all.map_or(Ok(()), Err)
    }
}

fn repeated(given: &[Argument], errors: &mut Errors) {
    for (index, argument) in given.iter().enumerate() {
        let key = argument.key;
        if given[..index].iter().any(|earlier| earlier.key == key) {
            errors.at(&argument.ident, format!("`{key}` is given twice: keep one"));
        }
        if let Value::Section(inner) = &argument.value {
            repeated(inner, errors);
        }
    }
}

fn conflicts(arguments: &Arguments, errors: &mut Errors) {
    if arguments.get(Key::Policy).is_some() {
        for &key in Key::OF_POLICY {
            if let Some(argument) = arguments.get(key) {
                errors.at(
                    &argument.ident,
                    format!("`{key}` is part of the policy that `policy` names: set it there, or remove `policy`"),
                );
            }
        }
    }
    if let (Some(_), Some(fallback)) = (arguments.get(Key::GiveUp), arguments.get(Key::Fallback)) {
        errors.at(
            &fallback.ident,
            String::from("`fallback` and `give_up` both end the call: keep one, since `fallback` gets the same `GaveUp` and may return an error of its own"),
        );
    }
    if let (Some(max_hint), Some(Value::Word(word @ ("clamp" | "ignore"), _))) =
        (arguments.get(Key::MaxHint), arguments.value(Key::Hint))
    {
        errors.at(
            &max_hint.ident,
            format!("`max_hint` has no effect with `hint = \"{word}\"`: remove one of the two"),
        );
    }
}

fn schedules(arguments: &Arguments, errors: &mut Errors) {
    schedule(&arguments.given, None, errors);
    for argument in &arguments.given {
        if let Value::Section(inner) = &argument.value {
            schedule(inner, Some((argument.key, &arguments.given)), errors);
        }
    }
}

/// The rules of one set of numbers: the attribute's own, or those of a section, which stand on the former.
fn schedule(given: &[Argument], section: Option<(Key, &[Argument])>, errors: &mut Errors) {
    let own = |key| given.iter().find(|argument| argument.key == key);
    let find = |key| {
        own(key).or_else(|| {
            let (_, outer) = section?;
            outer.iter().find(|argument| argument.key == key)
        })
    };
    let word = |key| match find(key).map(|argument| &argument.value) {
        Some(Value::Word(word, _)) => Some(*word),
        _ => None,
    };
    match word(Key::Backoff) {
        Some("none") => {
            for key in [Key::Base, Key::Factor, Key::Cap, Key::Jitter] {
                if let Some(argument) = own(key) {
                    errors.at(
                        &argument.ident,
                        format!(
                            "`{key}` has no effect with `backoff = \"none\"`: remove one of the two"
                        ),
                    );
                }
            }
        }
        Some(shape @ ("fixed" | "linear" | "fibonacci")) => {
            if let Some(factor) = own(Key::Factor) {
                errors.at(
                    &factor.ident,
                    format!("`factor` has no effect with `backoff = \"{shape}\"`: only `\"exp\"` grows by it"),
                );
            }
        }
        _ => {}
    }
    if word(Key::Jitter) == Some("decorrelated") {
        for key in [Key::Backoff, Key::Factor] {
            if let Some(argument) = own(key)
                && !matches!(argument.value, Value::Word("exp" | "none", _))
            {
                errors.at(
                    &argument.ident,
                    format!("`{key}` has no effect with `jitter = \"decorrelated\"`, which is a shape of its own: remove one of the two"),
                );
            }
        }
    }
    base_below_cap(own(Key::Base), own(Key::Cap), &find, section, errors);
}

fn base_below_cap<'a>(
    own_base: Option<&'a Argument>,
    own_cap: Option<&'a Argument>,
    find: &impl Fn(Key) -> Option<&'a Argument>,
    section: Option<(Key, &[Argument])>,
    errors: &mut Errors,
) {
    let Some(written) = own_base.or(own_cap) else {
        return;
    };
    let literal = |key, default| match find(key).map(|argument| &argument.value) {
        Some(Value::Duration(duration)) => Some((*duration, "")),
        Some(_) => None,
        None => Some((default, ", the default")),
    };
    let base = literal(Key::Base, Duration::from_secs(1));
    let cap = literal(Key::Cap, Duration::from_secs(30));
    if let (Some((base, base_is)), Some((cap, cap_is))) = (base, cap)
        && base > cap
    {
        let place = section.map_or(String::new(), |(key, _)| format!(" in `{key}(…)`"));
        errors.0.push(syn::Error::new(
            written.span,
            format!("`base` ({base:?}{base_is}) is above `cap` ({cap:?}{cap_is}){place}: lower one or raise the other"),
        ));
    }
}

const NO_RESULT: &str = "returns no `Result`, so it can't fail and `#[retry]` has nothing to do: return one, or remove `#[retry]`";

fn target(arguments: &Arguments, function: &Function, errors: &mut Errors) {
    let signature = &function.signature;
    for attribute in &function.attributes {
        let name = attribute.path().segments.last();
        if name.is_some_and(|name| name.ident == "retry") {
            errors.at(
                attribute.path(),
                String::from("a second `#[retry]` would multiply the attempts: keep one"),
            );
        }
    }
    if let Some(constness) = &signature.constness {
        errors.at(
            constness,
            String::from("a `const fn` can't wait between attempts: remove `const` or `#[retry]`"),
        );
    }
    if let Some(variadic) = &signature.variadic {
        errors.at(
            variadic,
            String::from(
                "a variadic function can't be retried: its arguments can be read only once",
            ),
        );
    }
    if let Body::Missing(semicolon) = &function.body {
        errors.at(
            semicolon,
            String::from(
                "this method has no body to retry: put `#[retry]` on the method of the `impl`",
            ),
        );
    }
    let Some(returned) = function.return_type() else {
        errors.at(
            &signature.ident,
            format!("`{}` {NO_RESULT}", signature.ident),
        );
        return;
    };
    let (outcome, delivery) = outcome::of(returned);
    stream::check(arguments, outcome, function, &mut errors.0);
    let is_blocking = !function.is_async()
        && delivery == Delivery::Direct
        && arguments.get(Key::Stream).is_none();
    if is_blocking {
        for key in [Key::Timeout, Key::Timer] {
            if let Some(argument) = arguments.get(key) {
                let why = match key {
                    Key::Timeout => {
                        "which can't be dropped while it runs: make it `async`, or pass a timeout to the call it makes"
                    }
                    _ => "which sleeps on its thread: make it `async`, or remove `timer`",
                };
                errors.at(
                    &argument.ident,
                    format!("`{key}` can't be on a blocking function, {why}"),
                );
            }
        }
    }
    if is_no_result(outcome) {
        errors.at(outcome, format!("`{}` {NO_RESULT}", signature.ident));
    }
    if is_blocking
        && let Some(Value::Expr(Expr::Closure(closure))) = arguments.value(Key::Fallback)
        && let Some(asyncness) = &closure.asyncness
    {
        errors.at(
            asyncness,
            String::from("the `fallback` of a blocking function can't be `async`: remove `async` here, or make the function `async`"),
        );
    }
    let lifetimes = function.mutable_references();
    if let Some(borrow) = mutable_reference(outcome, &lifetimes) {
        errors.at(
            borrow,
            String::from("a retried function can't return a `&mut` into its arguments, since every attempt borrows them anew (rust-lang/rust#51132): return an owned value or an index, and borrow after the call"),
        );
    }
}

/// A `&mut` in the type of the value, where generic arguments of functions and of trait objects don't count.
fn mutable_reference<'a>(ty: &'a Type, arguments: &[Option<Lifetime>]) -> Option<&'a Type> {
    let mutable_reference = |ty| mutable_reference(ty, arguments);
    match ty {
        // One whose lifetime is left out may be any argument's; a named one is that of the arguments with the name.
        Type::Reference(reference) if reference.mutability.is_some() => {
            let is_argument = match &reference.lifetime {
                Some(lifetime) if lifetime.ident != "_" => {
                    arguments.contains(&Some(lifetime.clone()))
                }
                _ => !arguments.is_empty(),
            };
            is_argument.then_some(ty)
        }
        Type::Reference(reference) => mutable_reference(&reference.elem),
        Type::Group(group) => mutable_reference(&group.elem),
        Type::Paren(paren) => mutable_reference(&paren.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(mutable_reference),
        Type::Path(path) => path.path.segments.iter().find_map(|segment| {
            let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
                return None;
            };
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => mutable_reference(ty),
                _ => None,
            })
        }),
        _ => None,
    }
}

/// Whether a type is none by its look alone. Names that hide their type are left to the compiler.
pub(crate) fn is_no_result(ty: &Type) -> bool {
    const OF_THE_PRELUDE: &[&str] = &[
        "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32",
        "i64", "i128", "isize", "f32", "f64", "String", "Vec", "Option",
    ];
    match ty {
        Type::Path(path) => {
            let name = path.path.segments.first();
            path.qself.is_none()
                && path.path.segments.len() == 1
                && name.is_some_and(|name| OF_THE_PRELUDE.iter().any(|known| name.ident == known))
        }
        Type::Group(group) => is_no_result(&group.elem),
        Type::Paren(paren) => is_no_result(&paren.elem),
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
