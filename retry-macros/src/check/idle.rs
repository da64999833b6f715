//! Keys that have no effect beside others. As in `policy/idle.rs` of the runtime, for texts and tables.

use crate::argument::{Argument, Value};
use crate::key::Key;

pub(super) fn find(key: Key, given: &[Argument]) -> Option<&Argument> {
    given.iter().find(|argument| argument.key == key)
}

fn word(key: Key, given: &[Argument], outer: &[Argument]) -> Option<&'static str> {
    match &find(key, given).or_else(|| find(key, outer))?.value {
        Value::Word(word, _) => Some(word),
        _ => None,
    }
}

/// The keys that have no effect in one set of numbers, which stands on another, and what takes it from them.
pub(super) fn without_effect(given: &[Argument], outer: &[Argument]) -> Vec<(Key, String)> {
    let mut without = Vec::new();
    match word(Key::Backoff, given, outer) {
        Some("none") => {
            let why = "`backoff = \"none\"`: remove one of the two";
            let keys = [Key::Base, Key::Factor, Key::Cap, Key::Jitter];
            without.extend(keys.map(|key| (key, String::from(why))));
        }
        Some(shape @ ("fixed" | "linear" | "fibonacci")) => {
            let why = format!("`backoff = \"{shape}\"`: only `\"exp\"` grows by it");
            without.push((Key::Factor, why));
        }
        _ => {}
    }
    if word(Key::Jitter, given, outer) == Some("decorrelated") {
        let why = "`jitter = \"decorrelated\"`, which is a shape of its own: remove one of the two";
        if !matches!(word(Key::Backoff, given, outer), Some("exp" | "none")) {
            without.push((Key::Backoff, String::from(why)));
        }
        without.push((Key::Factor, String::from(why)));
    }
    without.retain(|(key, _)| match key {
        // It brings delays back.
        Key::Backoff => word(Key::Backoff, outer, &[]) != Some("none"),
        // Without delays it is that of hints.
        Key::Jitter => {
            let here = find(Key::Jitter, given).or_else(|| find(Key::Jitter, outer));
            let adds = adds_to_hints(here);
            adds.is_some() && adds == adds_to_hints(find(Key::Jitter, outer))
        }
        _ => true,
    });
    without
}

/// `None` where only the program knows.
fn adds_to_hints(jitter: Option<&Argument>) -> Option<bool> {
    match jitter.map(|argument| &argument.value) {
        None | Some(Value::Number(_)) => Some(true),
        Some(Value::Word(word, _)) => Some(*word != "none"),
        Some(_) => None,
    }
}

/// Whether a section takes that key from the attribute, and there it has an effect. A `base` has to be at or below the
/// `cap` beside it, so that one is not without the other.
pub(super) fn is_taken(key: Key, outer: &[Argument]) -> bool {
    let beside = match key {
        Key::Base => Some(Key::Cap),
        Key::Cap => Some(Key::Base),
        _ => None,
    };
    let beside = beside.filter(|beside| find(*beside, outer).is_some());
    outer.iter().any(|argument| {
        let Value::Section(given) = &argument.value else {
            return false;
        };
        let without = without_effect(given, outer);
        let takes =
            |key: Key| find(key, given).is_none() && without.iter().all(|(idle, _)| *idle != key);
        takes(key) || beside.is_some_and(takes)
    })
}
