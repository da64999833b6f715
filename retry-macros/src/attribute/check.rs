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
pub(crate) fn check_arguments(arguments: &Arguments, errors: &mut Errors) {
    errors.append(&arguments.errors);
    check_duplicates(&arguments.given, errors);
    refuse_policy_settings(arguments, errors);
    check_policy(&arguments.given, &[], errors);
}

/// Checks a member's settings together with the block's settings that remain in force.
pub(crate) fn check_member(own: &Arguments, block: &Arguments, errors: &mut Errors) {
    if own.get(Key::Policy).is_none() {
        check_policy(&own.given, &block.given, errors);
    }
}

/// Checks a policy's settings. Errors point at `given`. The settings in `below` also apply.
fn check_policy(given: &[Argument], below: &[Argument], errors: &mut Errors) {
    let own = Settings {
        section: None,
        given,
        overridden: &[below],
    };
    check_schedule(&own, errors);
    check_time_limit(&own, Key::Deadline, errors);
    check_time_limit(&own, Key::TotalTimeout, errors);
    check_time_limit(&own, Key::TotalDelay, errors);
    check_hedge(&own, errors);
    check_repeats(&own, errors);
    for argument in given {
        if argument.is_section() {
            let of_block = find(below, argument.key);
            let of_block = of_block.map_or(&[][..], |argument| argument.value.section());
            let section = Settings {
                section: Some(argument.key),
                given: argument.value.section(),
                overridden: &[of_block, given, below],
            };
            check_schedule(&section, errors);
        }
    }
}

/// The settings of an attribute or a section, and the settings that these override, closest first.
struct Settings<'a> {
    section: Option<Key>,
    given: &'a [Argument],
    overridden: &'a [&'a [Argument]],
}

/// Checks an attribute that is not on a trait.
pub(crate) fn check_non_trait(arguments: &Arguments, errors: &mut Errors) {
    check_arguments(arguments, errors);
    refuse_keys(
        arguments,
        errors,
        "can only be used on a trait, where it generates a type that implements the trait",
        |key| key.owner() == Owner::Trait,
    );
    refuse_copy_keys(arguments, errors);
}

/// Rejects keys that are only allowed on methods of a copied trait.
fn refuse_copy_keys(arguments: &Arguments, errors: &mut Errors) {
    let place = "can only be used on a method with a body, in a copy of another crate's trait (`of = …`): it retries that body instead of the client's method";
    refuse_keys(arguments, errors, place, |key| {
        key.owner() == Owner::TraitCopy
    });
}

/// Rejects the keys that meet a condition.
fn refuse_keys(arguments: &Arguments, errors: &mut Errors, why: &str, is_refused: fn(Key) -> bool) {
    for Argument { key, ident, .. } in &arguments.given {
        if is_refused(*key) {
            errors.push(error!(ident.span() => "`{key}` {why}"));
        }
    }
}

/// Checks the attribute of a trait.
pub(crate) fn check_trait(arguments: &Arguments, name: &Ident, errors: &mut Errors) {
    check_arguments(arguments, errors);
    if let (Some(KeyValue::Wrapper(wrapper, _)), None) =
        (arguments.value(Key::Wrapper), arguments.get(Key::Of))
    {
        if wrapper == name {
            errors.push(error!(wrapper.span() =>
                "`{name}` is already the name of the trait: choose another name for the wrapper, as in `wrapper = Retrying{name}`"));
        }
    }
    if let Some(backoff) = delays_function(&arguments.given) {
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
    refuse_copy_keys(arguments, errors);
    check_bodiless(arguments, errors);
}

/// Checks an attribute for methods without bodies.
pub(crate) fn check_bodiless(arguments: &Arguments, errors: &mut Errors) {
    refuse! {arguments, errors;
        Attempt if true =>
            "`attempt` has no effect on a trait, because the method bodies are the client's: remove it, or put `#[retry]` on the client's `impl`"
        Clone if true =>
            "`clone` has no effect on a trait, because a decorator already clones each argument that it passes by value: remove it"
    }
}

/// Rejects settings next to `policy`, which already contains them.
pub(crate) fn refuse_policy_settings(arguments: &Arguments, errors: &mut Errors) {
    if arguments.get(Key::Policy).is_some() {
        let why = "can't be combined with `policy`, which already contains it: set it in the policy, or remove `policy`";
        refuse_keys(arguments, errors, why, Key::is_within_policy);
    }
}

fn check_duplicates(given: &[Argument], errors: &mut Errors) {
    for (index, argument) in given.iter().enumerate() {
        if find(&given[..index], argument.key).is_some() {
            errors.at(argument.ident.span(), messages::given_twice(&argument.key));
        }
        check_duplicates(argument.value.section(), errors);
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
fn delays_function(given: &[Argument]) -> Option<&Argument> {
    find(given, Key::Backoff).filter(|backoff| matches!(backoff.value, KeyValue::Delays(_)))
}

/// The keys that have no effect, the other key and the value that disable them, and the end of the message.
type NoEffect = (&'static [Key], Key, fn(&KeyValue) -> bool, &'static str);

macro_rules! no_effect {
    ($($($key:ident)+: $other:ident if $value:pat => $with:expr;)*) => {
        &[$((&keys![$($key)+], Key::$other, |value| matches!(value, $value), $with)),*]
    };
}

const NO_EFFECT: &[NoEffect] = no_effect! {
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

/// True for exceptions to [`NO_EFFECT`].
fn is_exempt(argument: &Argument, other: Key, given: &[Argument]) -> bool {
    match (argument.key, other) {
        // The sections may allow retries.
        (_, Key::Max) => given.iter().any(Argument::is_section),
        (Key::Floor, _) => given.iter().any(Argument::has_backoff),
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
fn check_schedule(settings: &Settings, errors: &mut Errors) {
    let given = settings.given;
    if let (Some(kind), Some(backoff)) = (settings.section, delays_function(given)) {
        errors.push(error!(backoff.span =>
            "`backoff` in `{kind}(…)` can't be a function: use a shape or a list here, or move the function out of `{kind}(…)`"));
    }
    for (keys, other, has, with) in NO_EFFECT {
        if !settings.value(*other).is_some_and(has) {
            continue;
        }
        let useless = keys.iter().filter_map(|key| find(given, *key));
        for argument in useless.filter(|argument| !is_exempt(argument, *other, given)) {
            let message = messages::no_effect(&argument.key, with);
            errors.at(argument.ident.span(), message);
        }
    }
    for key in KeyScope::Policy.keys() {
        if let ValueType::UpToCap(default) = key.value_type() {
            check_cap((key, default), settings, errors);
        }
    }
}

/// Checks that a literal or the default of this key doesn't exceed the `cap`.
fn check_cap((low, default): (Key, Duration), settings: &Settings, errors: &mut Errors) {
    let highest = match (low, settings.value(Key::Backoff)) {
        // A list has no base, and the default cap doesn't apply to it. An expression may evaluate to a list.
        (Key::Base, Some(KeyValue::List(_) | KeyValue::Delays(_))) => return,
        (Key::Base, _) => default::CAP,
        (_, Some(KeyValue::List(_) | KeyValue::Delays(_) | KeyValue::Expr(_))) => Duration::MAX,
        _ => default::CAP,
    };
    let bounds = settings
        .bound(low, Some(default))
        .zip(settings.bound(Key::Cap, Some(highest)));
    let above = bounds.and_then(|(lower, higher)| messages::check_limit(lower, higher));
    settings.report(&[low, Key::Cap], above, errors);
}

/// If all values are literals, checks that the first retry can start before this limit.
fn check_time_limit(settings: &Settings, limit: Key, errors: &mut Errors) {
    let Some(deadline) = settings.bound(limit, None) else {
        return;
    };
    if settings.may_skip_delay() {
        return;
    }
    let floor = settings.bound(Key::Floor, None);
    let floor = floor.and_then(|floor| messages::too_late(floor, floor.value, deadline));
    let late = |delay: Bound| {
        let shortest = delay::shortest(delay.value, settings.jitter_reduction()?);
        messages::too_late(delay, shortest, deadline)
    };
    let keys = [limit, Key::Floor, Key::Base, Key::Backoff, Key::Jitter];
    let message = floor.or_else(|| settings.first_delay().and_then(late));
    settings.report(&keys, message, errors);
}

/// If all values are literals, checks that a hedged attempt can start before a time limit ends the slow attempt.
fn check_hedge(settings: &Settings, errors: &mut Errors) {
    let Some(hedge) = settings.bound(Key::Hedge, None) else {
        return;
    };
    for limit in keys![Timeout Deadline TotalTimeout] {
        let above = settings.bound(limit, None);
        let above = above.and_then(|limit| messages::check_limit(hedge, limit));
        let above =
            above.map(|above| format!("`hedge` would never start a second attempt: {above}"));
        settings.report(&[Key::Hedge, limit], above, errors);
    }
}

/// Checks that `repeats` is reachable within `max`, if both are literals.
fn check_repeats(settings: &Settings, errors: &mut Errors) {
    let below = settings.overridden.iter().copied().flatten();
    let mut others = settings.given.iter().chain(below);
    let counts = |other: &Argument| other.is_section() && other.key != Key::Rejected;
    if settings.value(Key::Policy).is_some() || others.any(counts) {
        return;
    }
    let repeats = as_variant!(settings.value(Key::Repeats), Some(KeyValue::Expr(expr)) => expr);
    let repeats = repeats.and_then(number).and_then(Result::ok);
    let (max, which) = match settings.value(Key::Max) {
        None => (default::MAX, " (the default)"),
        Some(KeyValue::Count(max)) => (*max, ""),
        Some(_) => return,
    };
    let attempts = f64::from(max) + 1.0;
    let message = repeats.filter(|repeats| *repeats > attempts).map(|repeats| format!(
        "`repeats = {repeats}` has no effect with `max = {max}`{which}, which allows at most {attempts} attempts: lower `repeats` or raise `max`"
    ));
    settings.report(&[Key::Repeats, Key::Max], message, errors);
}

impl Settings<'_> {
    /// Reports an error at the first of these keys that is set here.
    fn report(&self, keys: &[Key], message: Option<String>, errors: &mut Errors) {
        let written = keys.iter().find_map(|key| find(self.given, *key));
        if let (Some(written), Some(message)) = (written, message) {
            errors.at(written.span, message);
        }
    }

    /// The key's value, from here or from the settings below.
    fn value(&self, key: Key) -> Option<&KeyValue> {
        let mut below = self.overridden.iter();
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
    fn may_skip_delay(&self) -> bool {
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
    fn jitter_reduction(&self) -> Option<f64> {
        match self.value(Key::Jitter) {
            None => Some(delay::max_reduction(Jitter::Full)),
            Some(KeyValue::Jitter(jitter)) => Some(delay::max_reduction(*jitter)),
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
