//! Rules among the arguments of one attribute.

use std::time::Duration;

use proc_macro2::Ident;
use retry_vocabulary::complaint::{self, Bound};
use retry_vocabulary::default;
use retry_vocabulary::key::{Among, At, Key, Place, Takes};
use retry_vocabulary::word::{Backoff, Hint, Jitter, Word};

use crate::attribute::argument::{Argument, Arguments, Value, find};
use crate::errors::Errors;

/// Checks an attribute by itself.
pub(crate) fn arguments(arguments: &Arguments, errors: &mut Errors) {
    errors.append(&arguments.errors);
    repeated(&arguments.given, errors);
    policy_stands_alone(arguments, errors);
    if let (Some(_), Some(fallback)) = (arguments.get(Key::GiveUp), arguments.get(Key::Fallback)) {
        errors.at(
            fallback.ident.span(),
            "`fallback` and `give_up` both end the call: keep one, since `fallback` gets the same `GaveUp` and may return an error of its own",
        );
    }
    if let (Some(max_hint), Some(Value::Hint(hint @ (Hint::Clamp | Hint::Ignore)))) =
        (arguments.get(Key::MaxHint), arguments.value(Key::Hint))
    {
        let word = hint.word();
        errors.at(
            max_hint.ident.span(),
            complaint::no_effect(
                &Key::MaxHint,
                &format!("`hint = \"{word}\"`: remove one of the two"),
            ),
        );
    }
    schedule(&arguments.given, None, errors);
    for argument in &arguments.given {
        if let Value::Section(inner) = &argument.value {
            schedule(inner, Some((argument.key, &arguments.given)), errors);
        }
    }
}

/// Checks an attribute that is not on a trait.
pub(crate) fn on_no_trait(arguments: &Arguments, errors: &mut Errors) {
    for key in Among::Attribute
        .keys()
        .filter(|key| key.place() == Place::Trait)
    {
        if let Some(argument) = arguments.get(key) {
            errors.at(
                argument.ident.span(),
                format!("`{key}` goes on a trait, to generate a type that implements it"),
            );
        }
    }
}

/// Checks the attribute of a trait.
pub(crate) fn on_trait(arguments: &Arguments, name: &Ident, errors: &mut Errors) {
    if let (Some(Value::Name(wrapper)), None) =
        (arguments.value(Key::Wrapper), arguments.get(Key::Of))
    {
        if wrapper == name {
            errors.at(
                wrapper.span(),
                format!("`{name}` is the trait: give the type that retries it a name of its own, as in `wrapper = Retrying{name}`"),
            );
        }
    }
    let backoff = arguments.get(Key::Backoff);
    if let Some(backoff) = backoff.filter(|backoff| matches!(backoff.value, Value::Delays(_))) {
        errors.at(
            backoff.span,
            "`backoff` of a trait gives way to the policy of `with_policy`, and a function can't: name a shape or a list, or put the function on a method",
        );
    }
    // It may have been among the parts that could not be read.
    if arguments.get(Key::Wrapper).is_none() && arguments.errors.is_empty() {
        errors.at(
            name.span(),
            "`#[retry]` on a trait generates a type that implements it by retrying another: name it, as in `#[retry(wrapper = Retrying)]`",
        );
    }
    without_body(arguments, errors);
}

/// Checks an attribute whose methods have no bodies of their own.
pub(crate) fn without_body(arguments: &Arguments, errors: &mut Errors) {
    if let Some(attempt) = arguments.get(Key::Attempt) {
        errors.at(
            attempt.ident.span(),
            "`attempt` has no body to be seen in, since the bodies are the client's: remove it here, or put `#[retry]` on the client's `impl`",
        );
    }
}

/// Checks that nothing is set twice, in the policy that `policy` names and beside it.
pub(crate) fn policy_stands_alone(arguments: &Arguments, errors: &mut Errors) {
    if arguments.get(Key::Policy).is_none() {
        return;
    }
    for key in Among::Attribute.keys().filter(|key| key.is_within_policy()) {
        if let Some(argument) = arguments.get(key) {
            errors.at(
                argument.ident.span(),
                format!("`{key}` is part of the policy that `policy` names: set it there, or remove `policy`"),
            );
        }
    }
}

fn repeated(given: &[Argument], errors: &mut Errors) {
    for (index, argument) in given.iter().enumerate() {
        let key = argument.key;
        if find(&given[..index], key).is_some() {
            errors.at(argument.ident.span(), complaint::given_twice(&key));
        }
        if let Value::Section(inner) = &argument.value {
            repeated(inner, errors);
        }
    }
}

/// The rules for one set of numbers: the attribute's own, or a section's, which inherits from the attribute's.
fn schedule(given: &[Argument], section: Option<(Key, &[Argument])>, errors: &mut Errors) {
    let in_force = |key| find(given, key).or_else(|| find(section?.1, key));
    let value = |key| in_force(key).map(|argument| &argument.value);
    let own = find(given, Key::Backoff);
    let own = own.filter(|backoff| matches!(backoff.value, Value::Delays(_)));
    if let (Some((kind, _)), Some(backoff)) = (section, own) {
        errors.at(
            backoff.span,
            format!("`{kind}(…)` can't have a function of its own for `backoff`: name a shape or a list here, or put the function beside `{kind}(…)`"),
        );
    }
    let mut has_no_effect = |key, with: &str| {
        if let Some(argument) = find(given, key) {
            errors.at(argument.ident.span(), complaint::no_effect(&key, with));
        }
    };
    match value(Key::Backoff) {
        Some(Value::Backoff(Backoff::None)) => {
            let has_shape = |argument: &Argument| match &argument.value {
                Value::Section(inner) => find(inner, Key::Backoff).is_some(),
                _ => false,
            };
            let is_for_sections = given.iter().any(has_shape);
            for key in Among::Policy.keys() {
                let shapes = match (key, key.place(), key.takes()) {
                    (Key::Max | Key::Backoff, ..) => false,
                    (_, Place::Policy, Takes::UpToCap(_)) => !is_for_sections,
                    (_, place, _) => place == Place::Schedule,
                };
                if shapes {
                    has_no_effect(key, "`backoff = \"none\"`: remove one of the two");
                }
            }
        }
        Some(Value::List(_)) => {
            for key in [Key::Base, Key::Factor] {
                has_no_effect(key, complaint::BESIDE_LIST);
            }
        }
        Some(Value::Delays(_)) => {
            for key in [Key::Base, Key::Factor] {
                has_no_effect(
                    key,
                    "`backoff = |retry| …`, which computes the delays: remove one of the two",
                );
            }
        }
        Some(Value::Backoff(shape @ (Backoff::Fixed | Backoff::Linear | Backoff::Fibonacci))) => {
            let shape = shape.word();
            let with = format!("`backoff = \"{shape}\"`: only `\"exp\"` grows by it");
            has_no_effect(Key::Factor, &with);
        }
        _ => {}
    }
    if let Some(Value::Jitter(Jitter::Decorrelated)) = value(Key::Jitter) {
        let with =
            "`jitter = \"decorrelated\"`, which is a shape of its own: remove one of the two";
        let own_shape = find(given, Key::Backoff).map(|argument| &argument.value);
        if !matches!(
            own_shape,
            Some(Value::Backoff(Backoff::Exponential | Backoff::None))
        ) {
            has_no_effect(Key::Backoff, with);
        }
        has_no_effect(Key::Factor, with);
    }
    for key in Among::Policy.keys() {
        if let Takes::UpToCap(default) = key.takes() {
            in_order((key, default), given, section, errors);
        }
    }
}

/// Checks that a literal of that key, or its default, is not above the `cap`.
fn in_order(
    (low, default): (Key, Duration),
    given: &[Argument],
    section: Option<(Key, &[Argument])>,
    errors: &mut Errors,
) {
    let in_force = |key| find(given, key).or_else(|| find(section?.1, key));
    let at = |key| At {
        section: section
            .map(|(key, _)| key)
            .filter(|_| find(given, key).is_some()),
        key,
    };
    // `None` where it is not known.
    let value = |key: Key, default| match in_force(key).map(|argument| &argument.value) {
        Some(Value::Duration(duration)) => Some((*duration, false)),
        Some(_) => None,
        None => Some((default, true)),
    };
    let shape = in_force(Key::Backoff).map(|argument| &argument.value);
    let highest = match (low, shape) {
        // A list has no base. Nor does a default clip it, and an expression may give one.
        (Key::Base, Some(Value::List(_) | Value::Delays(_))) => return,
        (Key::Base, _) => default::CAP,
        (_, Some(Value::List(_) | Value::Delays(_) | Value::Expr(_))) => Duration::MAX,
        _ => default::CAP,
    };
    let Some(written) = find(given, low).or_else(|| find(given, Key::Cap)) else {
        return;
    };
    let (Some(lower), Some(higher)) = (value(low, default), value(Key::Cap, highest)) else {
        return;
    };
    let bound = |key, (value, is_default)| Bound {
        at: at(key),
        value,
        is_default,
    };
    if let Some(complaint) = complaint::above(bound(low, lower), bound(Key::Cap, higher)) {
        errors.at(written.span, complaint);
    }
}
