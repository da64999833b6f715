//! Rules among the arguments of one attribute.

use std::time::Duration;

use proc_macro2::Ident;
use retry_vocabulary::complaint::{self, Bound};
use retry_vocabulary::key::{Among, At, Key, Owner, Takes};
use retry_vocabulary::word::{Backoff, Hint, Jitter};
use retry_vocabulary::{default, delay};

use crate::as_variant::as_variant;
use crate::attribute::argument::{Argument, Arguments, KeyValue, find, keys};
use crate::attribute::value::number;
use crate::errors::{Errors, error, refuse};

/// Checks an attribute by itself, wherever it is.
pub(crate) fn arguments(arguments: &Arguments, errors: &mut Errors) {
    errors.append(&arguments.errors);
    repeated(&arguments.given, errors);
    policy_stands_alone(arguments, errors);
    refuse! {arguments, errors;
        Fallback if arguments.get(Key::GiveUp).is_some() =>
            "`fallback` and `give_up` both end the call: keep one, since `fallback` gets the same `GaveUp` and may return an error of its own"
    }
    numbers(&arguments.given, &[], errors);
}

/// Checks what a member says beside what its block says, where that stays in force.
pub(crate) fn over_block(own: &Arguments, block: &Arguments, errors: &mut Errors) {
    if own.get(Key::Policy).is_none() {
        numbers(&own.given, &block.given, errors);
    }
}

/// The rules of what a policy is made of, complained of where it is `given`. What lies below is in force, too.
fn numbers(given: &[Argument], below: &[Argument], errors: &mut Errors) {
    let own = Numbers {
        section: None,
        given,
        below: &[below],
    };
    schedule(&own, errors);
    in_time(&own, Key::Deadline, errors);
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

/// One set of numbers, the attribute's own or those of a section, and what it stands on, the uppermost first.
struct Numbers<'a> {
    section: Option<Key>,
    given: &'a [Argument],
    below: &'a [&'a [Argument]],
}

impl<'a> Numbers<'a> {
    fn in_force(&self, key: Key) -> Option<&'a Argument> {
        let mut below = self.below.iter();
        find(self.given, key).or_else(|| below.find_map(|below| find(below, key)))
    }
}

/// Checks an attribute that is not on a trait.
pub(crate) fn on_no_trait(arguments: &Arguments, errors: &mut Errors) {
    self::arguments(arguments, errors);
    let place = "a trait, to generate a type that implements it";
    goes_elsewhere(arguments, Owner::Trait, place, errors);
    goes_elsewhere(arguments, Owner::Copied, COPIED, errors);
}

const COPIED: &str = "a method with a body, in a copy of another crate's trait (`of = …`), to retry that body in place of the client's method";

/// Refuses the keys of that owner.
fn goes_elsewhere(arguments: &Arguments, owner: Owner, place: &str, errors: &mut Errors) {
    for Argument { key, ident, .. } in &arguments.given {
        if key.owner() == owner {
            errors.push(error!(ident.span() => "`{key}` goes on {place}"));
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
                "`{name}` is the trait: give the type that retries it a name of its own, as in `wrapper = Retrying{name}`"));
        }
    }
    if let Some(backoff) = own_delays(&arguments.given) {
        errors.push(error!(backoff.span =>
            "the `backoff` of a trait is replaced by the policy of `with_policy`, which can't hold a function: name a shape or a list, or put the function on a method"));
    }
    let policy = arguments.get(Key::Policy);
    if let Some(policy) = policy.filter(|policy| policy.value.is_closure()) {
        errors.push(error!(policy.span =>
            "the `policy` of a trait is replaced by that of `with_policy`, which can't hold a function: name a policy, or put the function on a method"));
    }
    // It may have been among the parts that could not be read.
    if arguments.get(Key::Wrapper).is_none() && arguments.errors.is_empty() {
        errors.push(error!(name.span() =>
            "`#[retry]` on a trait generates a type that implements it by retrying another: name it, as in `#[retry(wrapper = Retrying)]`"));
    }
    refuse! {arguments, errors;
        Forward if arguments.get(Key::Of).is_some() =>
            "`forward` implements the trait for pointers, which only the crate that declares it may: remove it, and wrap a type of yours around the pointer"
    }
    goes_elsewhere(arguments, Owner::Copied, COPIED, errors);
    without_body(arguments, errors);
}

/// Checks an attribute whose methods have no bodies of their own.
pub(crate) fn without_body(arguments: &Arguments, errors: &mut Errors) {
    refuse! {arguments, errors;
        Attempt if true =>
            "`attempt` has no body to be seen in, since the bodies are the client's: remove it here, or put `#[retry]` on the client's `impl`"
        Clone if true =>
            "`clone` has nothing to do here, since a decorator clones each argument that it hands on by value: remove it"
    }
}

/// Checks that nothing is set twice, in the policy that `policy` names and beside it.
pub(crate) fn policy_stands_alone(arguments: &Arguments, errors: &mut Errors) {
    if arguments.get(Key::Policy).is_none() {
        return;
    }
    for Argument { key, ident, .. } in &arguments.given {
        if key.is_within_policy() {
            errors.push(error!(ident.span() =>
                "`{key}` is part of the policy that `policy` names: set it there, or remove `policy`"));
        }
    }
}

fn repeated(given: &[Argument], errors: &mut Errors) {
    for (index, argument) in given.iter().enumerate() {
        let key = argument.key;
        if find(&given[..index], key).is_some() {
            errors.at(argument.ident.span(), complaint::given_twice(&key));
        }
        repeated(argument.value.section(), errors);
        if let KeyValue::Names(names) = &argument.value {
            for (index, name) in names.iter().enumerate() {
                if names[..index].contains(name) {
                    errors.at(name.span(), complaint::given_twice(name));
                }
            }
        }
    }
}

/// The `backoff` that is a function.
fn own_delays(given: &[Argument]) -> Option<&Argument> {
    find(given, Key::Backoff).filter(|backoff| matches!(backoff.value, KeyValue::Delays(_)))
}

/// Keys that do nothing beside another whose value is such, and how a complaint ends.
type Void = (&'static [Key], Key, fn(&KeyValue) -> bool, &'static str);

macro_rules! void {
    ($($($key:ident)+: $other:ident if $value:pat => $with:expr;)*) => {
        &[$((&keys![$($key)+], Key::$other, |value| matches!(value, $value), $with)),*]
    };
}

const VOID: &[Void] = void! {
    Base Factor Cap Floor Jitter: Backoff if KeyValue::Backoff(Backoff::None) =>
        r#"`backoff = "none"`: remove one of the two"#;
    Base Factor: Backoff if KeyValue::List(_) => complaint::BESIDE_LIST;
    Base Factor: Backoff if KeyValue::Delays(_) =>
        "`backoff = |retry| …`, which computes the delays: remove one of the two";
    Backoff Base Factor Cap Floor Jitter BeforePause BeforeRetry: Max if KeyValue::Count(0) =>
        "`max = 0`, which allows no retry: remove one of the two, or switch retries off by `enabled = false`";
    Factor: Backoff if KeyValue::Backoff(Backoff::Fixed) =>
        r#"`backoff = "fixed"`: only `"exp"` grows by it"#;
    Factor: Backoff if KeyValue::Backoff(Backoff::Linear) =>
        r#"`backoff = "linear"`: only `"exp"` grows by it"#;
    Factor: Backoff if KeyValue::Backoff(Backoff::Fibonacci) =>
        r#"`backoff = "fibonacci"`: only `"exp"` grows by it"#;
    Backoff Factor: Jitter if KeyValue::Jitter(Jitter::Decorrelated) =>
        r#"`jitter = "decorrelated"`, which is a shape of its own: remove one of the two"#;
    MaxHint: Hint if KeyValue::Hint(Hint::Ignore) =>
        r#"`hint = "ignore"`: remove one of the two"#;
    Cancel: Abort if _ => "`abort`, which ends pauses, too: remove one of the two";
    TimedOut: Idempotent if KeyValue::Bool(false) =>
        "`idempotent = false`, since what timed out may have taken effect: remove one of the two";
};

/// Whether an argument does something all the same.
fn is_spared(argument: &Argument, beside: Key, given: &[Argument]) -> bool {
    match (argument.key, beside) {
        // For the sections.
        (_, Key::Max) => given.iter().any(Argument::is_section),
        (Key::Floor, _) => given.iter().any(Argument::has_shape),
        // Says so itself.
        (Key::TimedOut, _) => find(argument.value.section(), Key::Max)
            .is_some_and(|max| matches!(max.value, KeyValue::Count(0))),
        (Key::Backoff, Key::Jitter) => matches!(
            argument.value,
            KeyValue::Backoff(Backoff::Exponential | Backoff::None)
        ),
        _ => false,
    }
}

/// The rules for one set of numbers.
fn schedule(numbers: &Numbers, errors: &mut Errors) {
    let given = numbers.given;
    if let (Some(kind), Some(backoff)) = (numbers.section, own_delays(given)) {
        errors.push(error!(backoff.span =>
            "`{kind}(…)` can't have a function of its own for `backoff`: name a shape or a list here, or put the function beside `{kind}(…)`"));
    }
    for (keys, other, has, with) in VOID {
        if !numbers.value(*other).is_some_and(has) {
            continue;
        }
        let voids = keys.iter().filter_map(|key| find(given, *key));
        for argument in voids.filter(|argument| !is_spared(argument, *other, given)) {
            let complaint = complaint::no_effect(&argument.key, with);
            errors.at(argument.ident.span(), complaint);
        }
    }
    for key in Among::Policy.keys() {
        if let Takes::UpToCap(default) = key.takes() {
            in_order((key, default), numbers, errors);
        }
    }
}

/// Checks that a literal of that key, or its default, is not above the `cap`.
fn in_order((low, default): (Key, Duration), numbers: &Numbers, errors: &mut Errors) {
    let highest = match (low, numbers.value(Key::Backoff)) {
        // A list has no base. Nor does a default clip it, and an expression may give one.
        (Key::Base, Some(KeyValue::List(_) | KeyValue::Delays(_))) => return,
        (Key::Base, _) => default::CAP,
        (_, Some(KeyValue::List(_) | KeyValue::Delays(_) | KeyValue::Expr(_))) => Duration::MAX,
        _ => default::CAP,
    };
    let written = find(numbers.given, low).or_else(|| find(numbers.given, Key::Cap));
    let bounds = numbers
        .bound(low, Some(default))
        .zip(numbers.bound(Key::Cap, Some(highest)));
    let above = bounds.and_then(|(lower, higher)| complaint::above(lower, higher));
    if let (Some(written), Some(above)) = (written, above) {
        errors.at(written.span, above);
    }
}

/// Checks, as far as literals tell, that the first retry can begin before that limit.
fn in_time(numbers: &Numbers, limit: Key, errors: &mut Errors) {
    let Some(deadline) = numbers.bound(limit, None) else {
        return;
    };
    let keys = [limit, Key::Floor, Key::Base, Key::Backoff, Key::Jitter];
    let written = keys.into_iter().find_map(|key| find(numbers.given, key));
    let (Some(written), false) = (written, numbers.may_not_matter()) else {
        return;
    };
    let floor = numbers.bound(Key::Floor, None);
    let floor = floor.and_then(|floor| complaint::too_late(floor, floor.value, deadline));
    let late = |delay: Bound| {
        let shortest = delay::shortest(delay.value, numbers.taken_by_jitter()?);
        complaint::too_late(delay, shortest, deadline)
    };
    if let Some(complaint) = floor.or_else(|| numbers.first_delay().and_then(late)) {
        errors.at(written.span, complaint);
    }
}

/// Checks, as far as literals tell, that an attempt can begin beside a slow one before a limit ends that.
fn hedged_in_time(numbers: &Numbers, errors: &mut Errors) {
    let Some(hedge) = numbers.bound(Key::Hedge, None) else {
        return;
    };
    for limit in [Key::Timeout, Key::Deadline] {
        let written = find(numbers.given, Key::Hedge).or_else(|| find(numbers.given, limit));
        let limit = numbers.bound(limit, None);
        let above = limit.and_then(|limit| complaint::above(hedge, limit));
        if let (Some(written), Some(above)) = (written, above) {
            errors.push(error!(written.span =>
                "no attempt would begin beside a slow one, since {above}"));
        }
    }
}

/// Checks, as far as literals tell, that a call makes as many attempts as shall fail alike.
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
    let written = find(numbers.given, Key::Repeats).or_else(|| find(numbers.given, Key::Max));
    let attempts = f64::from(max) + 1.0;
    if let (Some(repeats), Some(written)) = (repeats.filter(|repeats| *repeats > attempts), written)
    {
        errors.push(error!(written.span =>
            "`repeats = {repeats}` has no effect with `max = {max}`{which}, which allows at most {attempts} in a row: lower the first or raise the second"));
    }
}

impl Numbers<'_> {
    fn value(&self, key: Key) -> Option<&KeyValue> {
        self.in_force(key).map(|argument| &argument.value)
    }

    /// A literal, or the default of what is not given; `None` where only the run tells.
    fn bound(&self, key: Key, default: Option<Duration>) -> Option<Bound> {
        let (value, is_default) = match self.value(key) {
            Some(KeyValue::Duration(value)) => (*value, false),
            Some(_) => return None,
            None => (default?, true),
        };
        let section = self.section.filter(|_| find(self.given, key).is_some());
        let at = At { section, key };
        Some(Bound {
            at,
            value,
            is_default,
        })
    }

    /// Whether some attempt may begin without these delays (beside another, for a correction, at once after an invalid
    /// value, by a section), or none is wanted after the first.
    fn may_not_matter(&self) -> bool {
        let others = [Key::Hedge, Key::Correct, Key::Validate, Key::Policy];
        let sections = Among::Policy.keys();
        let sections = sections.filter(|key| key.is_section() && *key != Key::Rejected);
        let mut others = others.into_iter().chain(sections);
        others.any(|key| self.value(key).is_some())
            || matches!(self.value(Key::Max), Some(KeyValue::Count(0)))
            || matches!(self.value(Key::Enabled), Some(KeyValue::Bool(false)))
            || matches!(
                self.value(Key::Backoff),
                Some(KeyValue::Backoff(Backoff::None))
            )
    }

    /// The part of a delay that jitter may take away, where no expression sets it.
    fn taken_by_jitter(&self) -> Option<f64> {
        match self.value(Key::Jitter) {
            None => Some(delay::taken_by(Jitter::Full)),
            Some(KeyValue::Jitter(jitter)) => Some(delay::taken_by(*jitter)),
            Some(KeyValue::Ratio(ratio)) => Some(*ratio),
            Some(_) => None,
        }
    }

    /// The delay before the first retry without jitter, where no expression sets it.
    fn first_delay(&self) -> Option<Bound> {
        match self.value(Key::Backoff) {
            None | Some(KeyValue::Backoff(_)) => self.bound(Key::Base, Some(default::BASE)),
            Some(KeyValue::List(delays)) => {
                let cap = self.bound(Key::Cap, Some(Duration::MAX))?;
                let at = At {
                    section: None,
                    key: Key::Backoff,
                };
                let value = cap.value.min(*delays.first()?);
                Some(Bound {
                    at,
                    value,
                    is_default: false,
                })
            }
            Some(_) => None,
        }
    }
}
