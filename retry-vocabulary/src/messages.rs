//! Messages about wrong keys and values. Each message quotes the user's input and suggests a correction, in a form that
//! suits an attribute, a configuration file and a command line.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};
use core::time::Duration;

use crate::duration::{DurationText, Fault};
use crate::key::{ForeignName, Key, KeyPath, KeyScope};
use crate::nearest::nearest;
use crate::range::DURATION;

/// The word that excludes a method from a block: `#[retry(skip)]`.
pub const SKIP: &str = "skip";

/// For an unknown key. `value` is the text after `=`, or empty. Recognizes the names that other libraries use.
pub fn unknown_key(name: &str, value: &str, scope: KeyScope) -> String {
    let place = match scope {
        KeyScope::Section(section) => format!(" in `{section}(…)`"),
        KeyScope::Attribute | KeyScope::Policy | KeyScope::Entry => String::new(),
    };
    let plain = to_snake_case(name);
    if let Some(remedy) = unit_remedy(&plain, value, scope) {
        return format!("unknown key `{name}`{place}: {remedy}");
    }
    let meant = |key: Key| Some((key, key.foreign_name(&plain)?));
    let mut meant = scope.keys().filter_map(meant);
    let remedy = match (meant.next(), meant.next()) {
        (Some((key, ForeignName::CountsFirstAttempt)), _) => {
            let attempts = value.parse::<u32>().ok();
            let retries = match attempts.and_then(|attempts| attempts.checked_sub(1)) {
                Some(retries) => format!("write `{key} = {retries}`"),
                None => String::from("subtract one"),
            };
            format!("use `{key}`, which counts retries, not attempts: {retries}")
        }
        (Some((key, ForeignName::Opposite)), _) => {
            let remedy = match value {
                "" | "true" => format!(": write `{key} = false`"),
                "false" => format!(": write `{key} = true`"),
                _ => String::new(),
            };
            format!("use `{key}`, which has the opposite meaning{remedy}")
        }
        (Some((key, ForeignName::IsValue)), _) => {
            format!(r#"it is a value of `{key}`: write `{key} = "{plain}"`"#)
        }
        (Some((key, _)), None) => format!("use `{key}`, as in `{}`", key.example()),
        (Some((key, _)), Some((other, _))) => {
            let [key, other] = [key, other].map(|key| match key.description().to_lowercase() {
                about if about.is_empty() => format!("`{key}`, as in `{}`", key.example()),
                about => format!("`{key}` ({about}), as in `{}`", key.example()),
            });
            format!("use {key}, or {other}")
        }
        (None, _) => misspelt(&plain, value, scope),
    };
    format!("unknown key `{name}`{place}: {remedy}")
}

/// Suffixes with which other libraries' key names denote a unit, and that unit.
const UNITS: [(&str, &str); 17] = [
    ("_ms", "ms"),
    ("_msec", "ms"),
    ("_millis", "ms"),
    ("_milliseconds", "ms"),
    ("_s", "s"),
    ("_sec", "s"),
    ("_secs", "s"),
    ("_seconds", "s"),
    ("_min", "m"),
    ("_mins", "m"),
    ("_minute", "m"),
    ("_minutes", "m"),
    ("_hr", "h"),
    ("_hour", "h"),
    ("_hours", "h"),
    ("_day", "d"),
    ("_days", "d"),
];

/// For the name of a duration that ends with its unit, such as `max_backoff_ms`.
fn unit_remedy(name: &str, value: &str, scope: KeyScope) -> Option<String> {
    UNITS.iter().find_map(|(ending, unit)| {
        let plain = name.strip_suffix(ending)?;
        let is_meant = |key: &Key| key.name() == plain || key.is_foreign_name(plain);
        let key = scope
            .keys()
            .find(|key| is_meant(key) && key.value_type().is_duration())?;
        Some(match value.parse::<f64>() {
            Ok(_) => format!(
                r#"use `{key}`, with the unit in the value: write `{key} = "{value}{unit}"`"#
            ),
            Err(_) => format!("use `{key}`, as in `{}`", key.example()),
        })
    })
}

/// The name in snake case. Files of other libraries use `maxDelay`, flags use `max-delay`.
fn to_snake_case(name: &str) -> String {
    let mut plain = String::new();
    let mut follows_small = false;
    for letter in name.chars() {
        if follows_small && letter.is_uppercase() {
            plain.push('_');
        }
        follows_small = letter.is_lowercase() || letter.is_ascii_digit();
        match letter {
            '-' => plain.push('_'),
            _ => plain.extend(letter.to_lowercase()),
        }
    }
    plain
}

/// For a name that other libraries don't use for a key of `scope`.
fn misspelt(name: &str, value: &str, scope: KeyScope) -> String {
    if scope.find(name).is_some() {
        return suggestion(name, &[name]);
    }
    let known: Vec<_> = scope.keys().map(Key::name).collect();
    let takes_skip = scope == KeyScope::Attribute && value.is_empty();
    if takes_skip && nearest(name, &[&known[..], &[SKIP]].concat()) == Some(SKIP) {
        return suggestion(name, &[SKIP]);
    }
    misplaced(name, scope).unwrap_or_else(|| suggestion(name, &known))
}

/// For a key in the wrong place.
fn misplaced(name: &str, scope: KeyScope) -> Option<String> {
    if (name, scope) == ("cost", KeyScope::Attribute) {
        let cost = "set the cost on the limiter, as in `limiter = LIMITER.cost(4)`";
        return Some(String::from(cost));
    }
    let mut keys = KeyScope::Attribute.keys();
    let key = keys.find(|key| key.name() == name || key.is_foreign_name(name))?;
    match scope {
        KeyScope::Section(section) if key.is_of_policy() && !key.is_section() => {
            Some(format!("move `{key}` out of `{section}(…)`"))
        }
        KeyScope::Attribute | KeyScope::Section(_) => None,
        KeyScope::Policy | KeyScope::Entry => {
            Some(format!("`{key}` is a key of `#[retry]`, not of a policy"))
        }
    }
}

/// For a text that is not a word of this key.
pub fn unknown_word(key: Key, at: &dyn Display, word: &str, known: &[&str]) -> String {
    let guess = match equivalent(key, word).or_else(|| nearest(word, known)) {
        Some(nearest) => format!("did you mean `{nearest}`? The"),
        None => String::from("the"),
    };
    let (known, or) = (known.join(", "), key.value_type().other_values());
    format!("unknown word `{word}` for `{at}`: {guess} words are {known}{or}")
}

/// For a name that is not in `known`: suggests the most similar one, or lists all of them.
pub fn suggestion(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("expected one of {}", known.join(", ")),
    }
}

/// For a key that is set twice.
pub fn given_twice(key: &dyn Display) -> String {
    format!("`{key}` is given twice: keep one")
}

/// For a value of the right kind that is out of range.
pub fn out_of_range(key: &dyn Display, given: &str, range: &str) -> String {
    format!("`{key} = {given}` is out of range: it takes {range}")
}

/// Like [`out_of_range`], but without the original value, which is unknown.
pub fn was_out_of_range(key: &dyn Display, range: &str) -> String {
    format!("`{key}` was out of range: it takes {range}")
}

/// For a value of the wrong kind.
pub fn wrong_kind(key: &dyn Display, given: &str, wanted: &str) -> String {
    format!("`{key}` can't be `{given}`: it takes {wanted}")
}

/// For a text that is not a duration. `given` is the user's input, and `text` is the part of it that was parsed.
pub fn invalid_duration(key: &dyn Display, given: &str, text: &str, fault: Fault) -> String {
    let text = text.trim();
    match fault {
        Fault::Negative => out_of_range(key, given, "a duration from zero up"),
        Fault::NotADuration => wrong_kind(key, given, DURATION),
        Fault::NoUnit => format!(
            r#"`{key} = {given}` has no unit: write `"{text}s"` for seconds, or `ms`, `m`, `h`"#
        ),
        Fault::UnknownUnit(unit) => {
            let meant = UNITS.iter().find(|(known, _)| known[1..] == unit);
            let remedy = match meant {
                Some((_, meant)) => format!(r#"write `"{}"`"#, text.replacen(&unit, meant, 1)),
                None => format!("write {DURATION} (units: ns, us, ms, s, m, h, d, w)"),
            };
            format!("`{key} = {given}` has the unknown unit `{unit}`: {remedy}")
        }
        Fault::TooFine => out_of_range(key, given, "whole nanoseconds"),
        Fault::TooLong => out_of_range(key, given, "at most 213503d, which is 584 years"),
    }
}

/// For a key that has no effect. `with` is the reason and the remedy.
pub fn no_effect(key: &dyn Display, with: &str) -> String {
    format!("`{key}` has no effect with {with}")
}

/// For a key that has no effect because the delays come from a list.
pub const WITH_LIST: &str = "a list of delays: remove one of them";

/// For an empty list.
pub fn empty_list(key: &dyn Display) -> String {
    format!(r#"`{key} = []` is empty: write at least one delay, as in `["1s", "5s", "30s"]`"#)
}

/// A duration that is compared with another one.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The key of the duration.
    pub at: KeyPath,
    /// The duration in force.
    pub value: Duration,
    /// True if the duration is the key's default.
    pub is_default: bool,
}

impl Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = if self.is_default {
            " (the default)"
        } else {
            ""
        };
        write!(f, "`{} = {}`{default}", self.at, DurationText(self.value))
    }
}

/// For two durations, if the first exceeds the second.
pub fn check_limit(low: Bound, high: Bound) -> Option<String> {
    (low.value > high.value).then(|| above_limit(low, high))
}

/// For a duration that exceeds another.
pub fn above_limit(low: Bound, high: Bound) -> String {
    format!("{low} is above {high}: lower the first or raise the second")
}

/// For the delay before the first retry, if it exceeds the deadline even if jitter shortens it as much as possible.
pub fn too_late(delay: Bound, shortest: Duration, deadline: Bound) -> Option<String> {
    let jitter = if shortest < delay.value {
        format!(", at least {} with jitter,", DurationText(shortest))
    } else {
        String::new()
    };
    (shortest > deadline.value).then(|| {
        format!(
            "the first retry would come too late ({delay}{jitter} exceeds {deadline}): lower one or raise the other"
        )
    })
}

/// The key's own word for another library's `word`.
fn equivalent(key: Key, word: &str) -> Option<&'static str> {
    match (key, word) {
        (Key::Backoff | Key::Jitter, "disabled" | "false" | "no" | "off") => Some("none"),
        (Key::Backoff, "const" | "constant") => Some("fixed"),
        (Key::Jitter, "on" | "random" | "true" | "yes") => Some("full"),
        (Key::Hint, "disabled" | "false" | "no" | "off") => Some("ignore"),
        (Key::Hint, "on" | "respect" | "true" | "yes") => Some("honor"),
        _ => None,
    }
}
