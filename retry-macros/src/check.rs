//! Rules across arguments and target; all mistakes at once.

mod stream;

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use syn::spanned::Spanned;
use syn::{Expr, GenericArgument, Lifetime, PathArguments, Type};

use crate::argument::{Argument, Value};
use crate::function::{Body, Function};
use crate::key::Key;
use crate::outcome::{self, Delivery};
use crate::parse::Arguments;

/// Checks the attribute of a function.
pub(crate) fn check(given: &Arguments, function: &Function, errors: &mut Errors) {
    arguments(given, errors);
    on_no_trait(given, errors);
    target(given, function, "", errors);
}

/// Checks an attribute by itself.
pub(crate) fn arguments(arguments: &Arguments, errors: &mut Errors) {
    errors.0.extend(arguments.errors.iter().cloned());
    repeated(&arguments.given, errors);
    conflicts(arguments, errors);
    schedules(arguments, errors);
}

/// Checks an attribute that is not on a trait.
pub(crate) fn on_no_trait(arguments: &Arguments, errors: &mut Errors) {
    for key in [Key::Wrapper, Key::Of] {
        if let Some(argument) = arguments.get(key) {
            errors.at(
                &argument.ident,
                format!("`{key}` goes on a trait, to generate a type that implements it"),
            );
        }
    }
}

/// Checks the attribute of a trait.
pub(crate) fn on_trait(arguments: &Arguments, name: &Ident, errors: &mut Errors) {
    if let (Some(Value::Name(wrapper)), None) =
        (arguments.value(Key::Wrapper), arguments.get(Key::Of))
        && wrapper == name
    {
        errors.at(
            wrapper,
            format!("`{name}` is the trait: give the type that retries it a name of its own, as in `wrapper = Retrying{name}`"),
        );
    }
    // What could not be read may have been it.
    if arguments.get(Key::Wrapper).is_none() && arguments.errors.is_empty() {
        errors.at(
            name,
            String::from("`#[retry]` on a trait generates a type that implements it by retrying another: name it, as in `#[retry(wrapper = Retrying)]`"),
        );
    }
    no_body(arguments, errors);
}

/// Checks the attribute of a method of a trait.
pub(crate) fn on_method_of_trait(own: &Arguments, errors: &mut Errors) {
    no_body(own, errors);
}

/// Checks the attribute of a method in a block or a trait.
pub(crate) fn on_member(own: &Arguments, errors: &mut Errors) {
    on_no_trait(own, errors);
}

fn no_body(arguments: &Arguments, errors: &mut Errors) {
    if let Some(attempt) = arguments.get(Key::Attempt) {
        errors.at(
            &attempt.ident,
            String::from("`attempt` has no body to be seen in, since the bodies are the client's: remove it here, or put `#[retry]` on the client's `impl`"),
        );
    }
}

/// Checks a function in a block, with the arguments of the block and its own, which were checked alone.
pub(crate) fn member(arguments: &Arguments, function: &Function, errors: &mut Errors) {
    policy_stands_alone(arguments, errors);
    let name = &function.signature.ident;
    let otherwise = format!(". Or leave `{name}` alone: mark it `#[retry(skip)]`");
    target(arguments, function, &otherwise, errors);
}

/// Checks that a block or a trait has something to retry, unless a mistake may be the reason why not.
pub(crate) fn something_is_retried(is_retried: bool, errors: &mut Errors) {
    if !is_retried && errors.0.is_empty() {
        errors.0.push(syn::Error::new(
            Span::call_site(),
            "nothing here is retried: no method without `skip` is async, or returns a `Result`, a future or a stream by that name. Remove `#[retry]`, or put one on the method itself",
        ));
    }
}

/// All mistakes so far.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    pub(crate) fn at(&mut self, place: &impl Spanned, message: String) {
        self.0.push(syn::Error::new(place.span(), message));
    }

    pub(crate) fn into_compile_error(self) -> Option<TokenStream> {
        // What a block's arguments lack for one member they often lack for the next.
        let mut said = Vec::new();
        let mut all: Option<syn::Error> = None;
        for error in self.0 {
            let this = format!("{:?} {error}", error.span());
            if said.contains(&this) {
                continue;
            }
            said.push(this);
            match &mut all {
                Some(all) => all.combine(error),
                None => all = Some(error),
            }
        }
        all.map(syn::Error::into_compile_error)
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

fn policy_stands_alone(arguments: &Arguments, errors: &mut Errors) {
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
}

fn conflicts(arguments: &Arguments, errors: &mut Errors) {
    policy_stands_alone(arguments, errors);
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

fn no_result(function: &Function, otherwise: &str) -> String {
    let name = &function.signature.ident;
    let remedy = if otherwise.is_empty() {
        "remove `#[retry]`"
    } else {
        "mark it `#[retry(skip)]`"
    };
    format!(
        "`{name}` returns no `Result`, so it can't fail and `#[retry]` has nothing to do: return one, or {remedy}"
    )
}

/// `otherwise` is what else can be done about a function.
fn target(arguments: &Arguments, function: &Function, otherwise: &str, errors: &mut Errors) {
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
            format!(
                "a `const fn` can't wait between attempts: remove `const` or `#[retry]`{otherwise}"
            ),
        );
    }
    if let Some(variadic) = &signature.variadic {
        errors.at(
            variadic,
            format!("a variadic function can't be retried: its arguments can be read only once{otherwise}"),
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
        errors.at(&signature.ident, no_result(function, otherwise));
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
                    format!("`{key}` can't be on a blocking function, {why}{otherwise}"),
                );
            }
        }
    }
    if is_no_result(outcome) {
        errors.at(outcome, no_result(function, otherwise));
    }
    for key in [Key::Validate, Key::Correct, Key::Fallback] {
        if is_blocking
            && let Some(Value::Expr(Expr::Closure(closure))) = arguments.value(key)
            && let Some(asyncness) = &closure.asyncness
        {
            errors.at(
                asyncness,
                format!("the `{key}` of a blocking function can't be `async`: remove `async` here, or make the function `async`"),
            );
        }
    }
    // Here and not for the attribute alone: a block may name one key, and its member the other.
    if let (Some(correct), None) = (arguments.get(Key::Correct), arguments.get(Key::Validate))
        && arguments.errors.is_empty()
    {
        errors.at(
            &correct.ident,
            String::from("`correct` repairs values that `validate` rejects: add `validate = |value| …`, or remove `correct`"),
        );
    }
    let lifetimes = function.mutable_references();
    if let Some(borrow) = mutable_reference(outcome, &lifetimes) {
        errors.at(
            borrow,
            format!("a retried function can't return a `&mut` into its arguments, since every attempt borrows them anew (rust-lang/rust#51132): return an owned value or an index, and borrow after the call{otherwise}"),
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
fn is_no_result(ty: &Type) -> bool {
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
