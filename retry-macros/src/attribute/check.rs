//! Rules that involve several arguments of one attribute.

use std::time::Duration;

use proc_macro2::Ident;
use retry_vocabulary::key::{Key, KeyPath, KeyScope, Owner, ValueType};
use retry_vocabulary::messages::{self, Bound};
use retry_vocabulary::word::{Backoff, Hint, Jitter};
use retry_vocabulary::{default, delay};

use crate::as_variant::as_variant;
use crate::attribute::argument::{Argument, Arguments, KeyValue, find, keys};
use crate::attribute::value::number;
use crate::errors::{Errors, error, refuse};

/// Checks an attribute on its own, regardless of its target.
pub(crate) fn arguments(arguments: &Arguments, errors: &mut Errors) {
    errors.append(&arguments.errors);
    repeated(&arguments.given, errors);
    policy_contains_settings(arguments, errors);
    numbers(&arguments.given, &[], errors);
}

/// Checks a member's settings together with the block's settings that remain in force.
pub(crate) fn over_block(own: &Arguments, block: &Arguments, errors: &mut Errors) {
    if own.get(Key::Policy).is_none() {
        numbers(&own.given, &block.given, errors);
    }
}

/// Checks a policy's settings. Errors point at `given`. The settings in `below` also apply.
fn numbers(given: &[Argument], below: &[Argument], errors: &mut Errors) {
    let own = Numbers {
        section: None,
        given,
        below: &[below],
    };
    schedule(&own, errors);
    in_time(&own, Key::Deadline, errors);
    in_time(&own, Key::TotalTimeout, errors);
    in_time(&own, Key::TotalDelay, errors);
    hedged_in_time(&own, errors);
    repeats_in_reach(&own, errors);
    for argument in given {
        if argument.is_section() {
            let of_block = find(below, argument.key);
            let of_block = of_block.map_or(&[][..], |argument| argument.value.section());
            let section = Numbers {
                section: Some(argument.key),
                given: argument.value.section(),
                below: &[of_block, given, below],
            };
            schedule(&section, errors);
        }
    }
}

/// The settings of an attribute or a section, and the settings that these override, closest first.
struct Numbers<'a> {
    section: Option<Key>,
    given: &'a [Argument],
    below: &'a [&'a [Argument]],
}

/// Checks an attribute that is not on a trait.
pub(crate) fn on_no_trait(arguments: &Arguments, errors: &mut Errors) {
    self::arguments(arguments, errors);
    refuse_keys(
        arguments,
        errors,
        "can only be used on a trait, where it generates a type that implements the trait",
        |key| key.owner() == Owner::Trait,
    );
    on_no_copy(arguments, errors);
}

/// Rejects keys that are only allowed on methods of a copied trait.
fn on_no_copy(arguments: &Arguments, errors: &mut Errors) {
    let place = "can only be used on a method with a body, in a copy of another crate's trait (`of = …`): it retries that body instead of the client's method";
    refuse_keys(arguments, errors, place, |key| {
        key.owner() == Owner::TraitCopy
    });
}

/// Rejects the keys that meet a condition.
fn refuse_keys(arguments: &Arguments, errors: &mut Errors, why: &str, is_meant: fn(Key) -> bool) {
    for Argument { key, ident, .. } in &arguments.given {
        if is_meant(*key) {
            errors.push(error!(ident.span() => "`{key}` {why}"));
        }
    }
}

/// Checks the attribute of a trait.
pub(crate) fn on_trait(arguments: &Arguments, name: &Ident, errors: &mut Errors) {
    self::arguments(arguments, errors);
    if let (Some(KeyValue::Wrapper(wrapper, _)), None) =
        (arguments.value(Key::Wrapper), arguments.get(Key::Of))
    {
        if wrapper == name {
            errors.push(error!(wrapper.span() =>
                "`{name}` is already the name of the trait: choose another name for the wrapper, as in `wrapper = Retrying{name}`"));
        }
    }
    if let Some(backoff) = own_delays(&arguments.given) {
        errors.push(error!(backoff.span =>
            "`backoff` on a trait can't be a function, because `with_policy` replaces it with a policy, which can't contain one: use a shape or a list, or put the function on a method"));
    }
    let policy = arguments.get(Key::Policy);
    if let Some(policy) = policy.filter(|policy| policy.value.is_closure()) {
        errors.push(error!(policy.span =>
            "`policy` on a trait can't be a function, because `with_policy` replaces it with a policy: use a policy, or put the function on a method"));
    }
    // `wrapper` may be one of the arguments that could not be parsed.
    if arguments.get(Key::Wrapper).is_none() && arguments.errors.is_empty() {
        errors.push(error!(name.span() =>
            "`#[retry]` on a trait generates a wrapper type that implements the trait: give it a name, as in `#[retry(wrapper = Retrying)]`"));
    }
    on_no_copy(arguments, errors);
    without_body(arguments, errors);
}

/// Checks an attribute for methods without bodies.
pub(crate) fn without_body(arguments: &Arguments, errors: &mut Errors) {
    refuse! {arguments, errors;
        Attempt if true =>
            "`attempt` has no effect on a trait, because the method bodies are the client's: remove it, or put `#[retry]` on the client's `impl`"
        Clone if true =>
            "`clone` has no effect on a trait, because a decorator already clones each argument that it passes by value: remove it"
    }
}

/// Rejects settings next to `policy`, which already contains them.
pub(crate) fn policy_contains_settings(arguments: &Arguments, errors: &mut Errors) {
    if arguments.get(Key::Policy).is_some() {
        let why = "can't be combined with `policy`, which already contains it: set it in the policy, or remove `policy`";
        refuse_keys(arguments, errors, why, Key::is_within_policy);
    }
}

fn repeated(given: &[Argument], errors: &mut Errors) {
    for (index, argument) in given.iter().enumerate() {
        if find(&given[..index], argument.key).is_some() {
            errors.at(argument.ident.span(), messages::given_twice(&argument.key));
        }
        repeated(argument.value.section(), errors);
        let names = as_variant!(&argument.value, KeyValue::Names(names) => names.as_slice());
        let names = names.unwrap_or_default();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                errors.at(name.span(), messages::given_twice(name));
            }
        }
    }
}

/// The `backoff`, if it is a function.
fn own_delays(given: &[Argument]) -> Option<&Argument> {
    find(given, Key::Backoff).filter(|backoff| matches!(backoff.value, KeyValue::Delays(_)))
}

/// The keys that have no effect, the other key and the value that disable them, and the end of the message.
type Void = (&'static [Key], Key, fn(&KeyValue) -> bool, &'static str);

macro_rules! void {
    ($($($key:ident)+: $other:ident if $value:pat => $with:expr;)*) => {
        &[$((&keys![$($key)+], Key::$other, |value| matches!(value, $value), $with)),*]
    };
}

const VOID: &[Void] = void! {
    Base Factor Cap Floor Jitter: Backoff if KeyValue::Backoff(Backoff::None) =>
        r#"`backoff = "none"`: remove one of them"#;
    Base Factor: Backoff if KeyValue::List(_) => messages::WITH_LIST;
    Base Factor: Backoff if KeyValue::Delays(_) =>
        "`backoff = |retry| …`, which computes the delays: remove one of them";
    Backoff Base Factor Cap Floor Jitter BeforePause BeforeRetry: Max if KeyValue::Count(0) =>
        "`max = 0`, which allows no retries: remove one of them, or turn retries off with `enabled = false`";
    Factor: Backoff if KeyValue::Backoff(Backoff::Fixed | Backoff::Linear | Backoff::Fibonacci) =>
        r#"this `backoff`, because only `"exp"` has a factor: remove one of them"#;
    Backoff Factor: Jitter if KeyValue::Jitter(Jitter::Decorrelated) =>
        r#"`jitter = "decorrelated"`, which determines the delays itself: remove one of them"#;
    MaxHint: Hint if KeyValue::Hint(Hint::Ignore) =>
        r#"`hint = "ignore"`: remove one of them"#;
    Cancel: Abort if _ => "`abort`, which also ends pauses: remove one of them";
    TimedOut: Idempotent if KeyValue::Bool(false) =>
        "`idempotent = false`, because a request that timed out may have taken effect: remove one of them";
};

/// True for exceptions to [`VOID`].
fn is_spared(argument: &Argument, other: Key, given: &[Argument]) -> bool {
    match (argument.key, other) {
        // The sections may allow retries.
        (_, Key::Max) => given.iter().any(Argument::is_section),
        (Key::Floor, _) => given.iter().any(Argument::has_shape),
        // `timed_out(max = 0)` turns these retries off, too.
        (Key::TimedOut, _) => find(argument.value.section(), Key::Max)
            .is_some_and(|max| matches!(max.value, KeyValue::Count(0))),
        (Key::Backoff, Key::Jitter) => matches!(
            argument.value,
            KeyValue::Backoff(Backoff::Exponential | Backoff::None)
        ),
        _ => false,
    }
}

/// Checks the settings of an attribute or a section.
fn schedule(numbers: &Numbers, errors: &mut Errors) {
    let given = numbers.given;
    if let (Some(kind), Some(backoff)) = (numbers.section, own_delays(given)) {
        errors.push(error!(backoff.span =>
            "`backoff` in `{kind}(…)` can't be a function: use a shape or a list here, or move the function out of `{kind}(…)`"));
    }
    for (keys, other, has, with) in VOID {
        if !numbers.value(*other).is_some_and(has) {
            continue;
        }
        let voids = keys.iter().filter_map(|key| find(given, *key));
        for argument in voids.filter(|argument| !is_spared(argument, *other, given)) {
            let message = messages::no_effect(&argument.key, with);
            errors.at(argument.ident.span(), message);
        }
    }
    for key in KeyScope::Policy.keys() {
        if let ValueType::UpToCap(default) = key.takes() {
            in_order((key, default), numbers, errors);
        }
    }
}

/// Checks that a literal or the default of this key doesn't exceed the `cap`.
fn in_order((low, default): (Key, Duration), numbers: &Numbers, errors: &mut Errors) {
    let highest = match (low, numbers.value(Key::Backoff)) {
        // A list has no base, and the default cap doesn't apply to it. An expression may evaluate to a list.
        (Key::Base, Some(KeyValue::List(_) | KeyValue::Delays(_))) => return,
        (Key::Base, _) => default::CAP,
        (_, Some(KeyValue::List(_) | KeyValue::Delays(_) | KeyValue::Expr(_))) => Duration::MAX,
        _ => default::CAP,
    };
    let bounds = numbers
        .bound(low, Some(default))
        .zip(numbers.bound(Key::Cap, Some(highest)));
    let above = bounds.and_then(|(lower, higher)| messages::above(lower, higher));
    numbers.report(&[low, Key::Cap], above, errors);
}

/// If all values are literals, checks that the first retry can start before this limit.
fn in_time(numbers: &Numbers, limit: Key, errors: &mut Errors) {
    let Some(deadline) = numbers.bound(limit, None) else {
        return;
    };
    if numbers.may_not_matter() {
        return;
    }
    let floor = numbers.bound(Key::Floor, None);
    let floor = floor.and_then(|floor| messages::too_late(floor, floor.value, deadline));
    let late = |delay: Bound| {
        let shortest = delay::shortest(delay.value, numbers.taken_by_jitter()?);
        messages::too_late(delay, shortest, deadline)
    };
    let keys = [limit, Key::Floor, Key::Base, Key::Backoff, Key::Jitter];
    let message = floor.or_else(|| numbers.first_delay().and_then(late));
    numbers.report(&keys, message, errors);
}

/// If all values are literals, checks that a hedged attempt can start before a time limit ends the slow attempt.
fn hedged_in_time(numbers: &Numbers, errors: &mut Errors) {
    let Some(hedge) = numbers.bound(Key::Hedge, None) else {
        return;
    };
    for limit in keys![Timeout Deadline TotalTimeout] {
        let above = numbers.bound(limit, None);
        let above = above.and_then(|limit| messages::above(hedge, limit));
        let above =
            above.map(|above| format!("`hedge` would never start a second attempt: {above}"));
        numbers.report(&[Key::Hedge, limit], above, errors);
    }
}

/// Checks that `repeats` is reachable within `max`, if both are literals.
fn repeats_in_reach(numbers: &Numbers, errors: &mut Errors) {
    let below = numbers.below.iter().copied().flatten();
    let mut others = numbers.given.iter().chain(below);
    let counts = |other: &Argument| other.is_section() && other.key != Key::Rejected;
    if numbers.value(Key::Policy).is_some() || others.any(counts) {
        return;
    }
    let repeats = as_variant!(numbers.value(Key::Repeats), Some(KeyValue::Expr(expr)) => expr);
    let repeats = repeats.and_then(number).and_then(Result::ok);
    let (max, which) = match numbers.value(Key::Max) {
        None => (default::MAX, " (the default)"),
        Some(KeyValue::Count(max)) => (*max, ""),
        Some(_) => return,
    };
    let attempts = f64::from(max) + 1.0;
    let message = repeats.filter(|repeats| *repeats > attempts).map(|repeats| format!(
        "`repeats = {repeats}` has no effect with `max = {max}`{which}, which allows at most {attempts} attempts: lower `repeats` or raise `max`"
    ));
    numbers.report(&[Key::Repeats, Key::Max], message, errors);
}

impl Numbers<'_> {
    /// Reports an error at the first of these keys that is set here.
    fn report(&self, keys: &[Key], message: Option<String>, errors: &mut Errors) {
        let written = keys.iter().find_map(|key| find(self.given, *key));
        if let (Some(written), Some(message)) = (written, message) {
            errors.at(written.span, message);
        }
    }

    /// The key's value, from here or from the settings below.
    fn value(&self, key: Key) -> Option<&KeyValue> {
        let mut below = self.below.iter();
        let argument = find(self.given, key).or_else(|| below.find_map(|below| find(below, key)));
        argument.map(|argument| &argument.value)
    }

    /// The literal value of a key, or its default. `None` if it is only known at run time.
    fn bound(&self, key: Key, default: Option<Duration>) -> Option<Bound> {
        let (value, is_default) = match self.value(key) {
            Some(KeyValue::Duration(value)) => (*value, false),
            Some(_) => return None,
            None => (default?, true),
        };
        let section = self.section.filter(|_| find(self.given, key).is_some());
        let at = KeyPath { section, key };
        Some(Bound {
            at,
            value,
            is_default,
        })
    }

    /// True if the delay may not matter: a retry may start without it (hedging, corrections, invalid values, sections),
    /// or there are no retries.
    fn may_not_matter(&self) -> bool {
        let others = [Key::Hedge, Key::Correct, Key::Validate, Key::Policy];
        let sections = KeyScope::Policy.keys();
        let sections = sections.filter(|key| key.is_section() && *key != Key::Rejected);
        let mut others = others.into_iter().chain(sections);
        let backoff = self.value(Key::Backoff);
        others.any(|key| self.value(key).is_some())
            || matches!(self.value(Key::Max), Some(KeyValue::Count(0)))
            || matches!(self.value(Key::Enabled), Some(KeyValue::Bool(false)))
            || backoff.is_some_and(KeyValue::is_no_backoff)
    }

    /// The fraction by which jitter may shorten a delay. `None` if an expression sets the jitter.
    fn taken_by_jitter(&self) -> Option<f64> {
        match self.value(Key::Jitter) {
            None => Some(delay::taken_by(Jitter::Full)),
            Some(KeyValue::Jitter(jitter)) => Some(delay::taken_by(*jitter)),
            Some(KeyValue::Ratio(ratio)) => Some(*ratio),
            Some(KeyValue::Added(_)) => Some(0.0),
            Some(_) => None,
        }
    }

    /// The delay before the first retry, without jitter. `None` if an expression sets it.
    fn first_delay(&self) -> Option<Bound> {
        match self.value(Key::Backoff) {
            None | Some(KeyValue::Backoff(_)) => self.bound(Key::Base, Some(default::BASE)),
            Some(KeyValue::List(delays)) => {
                let mut first = self.bound(Key::Cap, Some(Duration::MAX))?;
                first.value = first.value.min(*delays.first()?);
                first.is_default = false;
                (first.at.section, first.at.key) = (None, Key::Backoff);
                Some(first)
            }
            Some(_) => None,
        }
    }
}
