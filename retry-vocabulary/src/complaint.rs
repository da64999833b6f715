//! The messages about wrong keys and values. Each one quotes what the user wrote and says what would be right, in a
//! form that fits an attribute, a configuration file and a command line.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};
use core::time::Duration;

use crate::duration::{Fault, Written};
use crate::key::{Among, At, Elsewhere, Key};
use crate::nearest::nearest;
use crate::{range, word};

/// The word that stands alone in an attribute.
pub const SKIP: &str = "skip";

/// For a name that is not a key, and the value given with it, empty where there is none. It knows what other libraries
/// call our keys.
pub fn unknown_key(name: &str, value: &str, among: Among) -> String {
    let place = match among {
        Among::Section(section) => format!(" in `{section}(…)`"),
        Among::Attribute | Among::Policy => String::new(),
    };
    let plain = in_snake_case(name);
    if let Some(remedy) = with_unit_in_name(&plain, value, among) {
        return format!("unknown key `{name}`{place}: {remedy}");
    }
    let meant = |key: Key| Some((key, key.elsewhere(&plain)?));
    let mut meant = among.keys().filter_map(meant);
    let remedy = match (meant.next(), meant.next()) {
        (Some((key, Elsewhere::CountsFirstAttempt)), _) => {
            let attempts = value.parse::<u32>().ok();
            let retries = match attempts.and_then(|attempts| attempts.checked_sub(1)) {
                Some(retries) => format!("write `{key} = {retries}`"),
                None => String::from("subtract one"),
            };
            format!("it is `{key}` here, which does not count the first attempt: {retries}")
        }
        (Some((key, Elsewhere::Opposite)), _) => {
            let remedy = match value {
                "" | "true" => format!(": write `{key} = false`"),
                "false" => format!(": write `{key} = true`"),
                _ => String::new(),
            };
            format!("it is `{key}` here, which says the opposite{remedy}")
        }
        (Some((key, Elsewhere::IsValue)), _) => {
            format!(r#"it is a value of `{key}` here: write `{key} = "{plain}"`"#)
        }
        (Some((key, _)), None) => format!("it is `{key}` here, as in `{}`", key.example()),
        (Some((key, _)), Some((other, _))) => {
            let [key, other] = [key, other].map(|key| match key.about().to_lowercase() {
                about if about.is_empty() => format!("`{key}`, as in `{}`", key.example()),
                about => format!("`{key}` ({about}), as in `{}`", key.example()),
            });
            format!("here it is {key}, or {other}")
        }
        (None, _) => misspelt(&plain, value, among),
    };
    format!("unknown key `{name}`{place}: {remedy}")
}

/// How other libraries end a name to say a unit, and the unit.
const UNITS: [(&str, &str); 11] = [
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
    ("_minutes", "m"),
];

/// For the name of a duration that ends with its unit, as `max_backoff_ms` does.
fn with_unit_in_name(name: &str, value: &str, among: Among) -> Option<String> {
    UNITS.iter().find_map(|(ending, unit)| {
        let plain = name.strip_suffix(ending)?;
        let is_meant = |key: &Key| key.name() == plain || key.is_elsewhere(plain);
        let key = among
            .keys()
            .find(|key| is_meant(key) && key.takes().is_duration())?;
        Some(match value.parse::<f64>() {
            Ok(_) => format!(
                r#"it is `{key}` here, with the unit in the value: write `{key} = "{value}{unit}"`"#
            ),
            Err(_) => format!("it is `{key}` here, as in `{}`", key.example()),
        })
    })
}

/// The name as our keys are written: files of other libraries have `maxDelay`, flags have `max-delay`.
fn in_snake_case(name: &str) -> String {
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

/// For a name that other libraries don't have for a key of `among` either.
fn misspelt(name: &str, value: &str, among: Among) -> String {
    if among.find(name).is_some() {
        return suggestion(name, &[name]);
    }
    let known: Vec<_> = among.keys().map(Key::name).collect();
    let takes_skip = among == Among::Attribute && value.is_empty();
    if takes_skip && nearest(name, &[&known[..], &[SKIP]].concat()) == Some(SKIP) {
        return suggestion(name, &[SKIP]);
    }
    misplaced(name, among).unwrap_or_else(|| suggestion(name, &known))
}

/// For a key in the wrong place.
fn misplaced(name: &str, among: Among) -> Option<String> {
    if (name, among) == ("cost", Among::Attribute) {
        let cost = "a cost belongs to the limiter, as in `limiter = LIMITER.cost(4)`";
        return Some(String::from(cost));
    }
    let mut keys = Among::Attribute.keys();
    let key = keys.find(|key| key.name() == name || key.is_elsewhere(name))?;
    match among {
        Among::Section(section) if key.is_of_policy() && !key.is_section() => {
            Some(format!("put `{key}` beside `{section}(…)`, not in it"))
        }
        Among::Attribute | Among::Section(_) => None,
        Among::Policy => Some(format!("`{key}` is a key of `#[retry]`, not of a policy")),
    }
}

/// For a text that is not one of the words that a key takes.
pub fn unknown_word(key: Key, at: &dyn Display, word: &str, known: &[&str]) -> String {
    let guess = match word::elsewhere(key, word).or_else(|| nearest(word, known)) {
        Some(nearest) => format!("did you mean `{nearest}`? The"),
        None => String::from("the"),
    };
    let (known, or) = (known.join(", "), key.takes().beside_words());
    format!("unknown word `{word}` for `{at}`: {guess} words are {known}{or}")
}

/// For a name that is not in `known`: suggests the one most like it, or else lists them all.
pub fn suggestion(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known are {}", known.join(", ")),
    }
}

/// For a key named twice.
pub fn given_twice(key: &dyn Display) -> String {
    format!("`{key}` is given twice: keep one")
}

/// For a value of the right kind that is out of range.
pub fn out_of_range(key: &dyn Display, given: &str, range: &str) -> String {
    format!("`{key} = {given}` is out of range: it takes {range}")
}

/// Like [`out_of_range`], where the value itself is not known any more.
pub fn was_out_of_range(key: &dyn Display, range: &str) -> String {
    format!("`{key}` was out of range: it takes {range}")
}

/// For a value of another kind than the key takes.
pub fn wrong_kind(key: &dyn Display, given: &str, wanted: &str) -> String {
    format!("`{key}` can't be `{given}`: it takes {wanted}")
}

/// For a text that is no duration. `given` is what the user wrote, `text` what was read of it.
pub fn no_duration(key: &dyn Display, given: &str, text: &str, fault: Fault) -> String {
    let text = text.trim();
    match fault {
        Fault::Negative => out_of_range(key, given, "a duration from zero up"),
        Fault::NoDuration => wrong_kind(key, given, range::DURATION),
        Fault::NoUnit => format!(
            r#"`{key} = {given}` has no unit: write `"{text}s"` for seconds, or `ms`, `m`, `h`"#
        ),
        Fault::UnknownUnit(unit) => format!(
            "`{key} = {given}` has the unknown unit `{unit}`: units are ns, us, ms, s, m (minutes), h, d and w"
        ),
        Fault::TooFine => out_of_range(key, given, "whole nanoseconds"),
        Fault::TooLong => out_of_range(key, given, "at most 213503d, which is 584 years"),
    }
}

/// For a key that something else makes ineffective. `with` says what, and what to do.
pub fn no_effect(key: &dyn Display, with: &str) -> String {
    format!("`{key}` has no effect with {with}")
}

/// For a key that has no effect because the delays come from a list.
pub const BESIDE_LIST: &str = "a list of delays: remove one of the two";

/// For an empty list.
pub fn empty_list(key: &dyn Display) -> String {
    format!(r#"`{key} = []` has no delay in it: write at least one, as in `["1s", "5s", "30s"]`"#)
}

/// One of two durations that must be in order.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The key that names the duration.
    pub at: At,
    /// The duration in force.
    pub value: Duration,
    /// Whether the duration is the key's default, which nobody named.
    pub is_default: bool,
}

impl Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = if self.is_default {
            " (the default)"
        } else {
            ""
        };
        write!(f, "`{} = {}`{default}", self.at, Written(self.value))
    }
}

/// Complains of two durations, if the first is above the second.
pub fn above(low: Bound, high: Bound) -> Option<String> {
    (low.value > high.value).then(|| is_above(low, high))
}

/// For a duration that is above another.
pub fn is_above(low: Bound, high: Bound) -> String {
    format!("{low} is above {high}: lower the first or raise the second")
}

/// Complains of the delay before the first retry, if the shortest that jitter makes of it is above the deadline.
pub fn too_late(delay: Bound, shortest: Duration, deadline: Bound) -> Option<String> {
    let jitter = if shortest < delay.value {
        format!(", with jitter {} or more,", Written(shortest))
    } else {
        String::new()
    };
    (shortest > deadline.value).then(|| {
        format!(
            "no retry would begin in time, since {delay}{jitter} is above {deadline}: lower the first or raise the second"
        )
    })
}
