//! Keys that have no effect beside others: a text or a table that names both is refused, and none is printed.

use crate::policy::error::Key;
use crate::policy::sections::Sections;
use crate::policy::value::Value;
use crate::{Backoff, Hint, Jitter, Overrides, PolicyError, Section};

/// A key, and what takes its effect: another key with its word.
struct Idle {
    key: &'static str,
    by: &'static str,
    word: Option<Value>,
}

/// What has no effect among these numbers.
fn idle(numbers: Section) -> Vec<Idle> {
    let mut idle = Vec::new();
    let keys: &[_] = match numbers.backoff {
        Some(Backoff::None) => &["base", "factor", "cap", "jitter"],
        Some(Backoff::Fixed | Backoff::Linear | Backoff::Fibonacci) => &["factor"],
        _ => &[],
    };
    for key in keys {
        let word = numbers.backoff;
        idle.push(Idle {
            key,
            by: "backoff",
            word: word.and_then(|word| Value::from_word(word, Backoff::WORDS)),
        });
    }
    if numbers.jitter == Some(Jitter::Decorrelated) {
        // A shape of its own.
        let keys: &[_] = match numbers.backoff {
            None | Some(Backoff::Exponential | Backoff::None) => &["factor"],
            Some(_) => &["backoff", "factor"],
        };
        for key in keys {
            idle.push(Idle {
                key,
                by: "jitter",
                word: Value::from_word(Jitter::Decorrelated, Jitter::WORDS),
            });
        }
    }
    idle
}

/// What has no effect in a section that stands on these numbers.
fn idle_in(section: Section, below: Section) -> Vec<Idle> {
    let mut idle = idle(below.overridden_by(section));
    let adds_to_hints = |section: Section| section.jitter != Some(Jitter::None);
    idle.retain(|idle| match idle.key {
        // It brings delays back.
        "backoff" => below.backoff != Some(Backoff::None),
        // Without delays it is that of hints.
        "jitter" => adds_to_hints(below.overridden_by(section)) == adds_to_hints(below),
        _ => true,
    });
    idle
}

fn holds(idle: &[Idle], key: &str) -> bool {
    idle.iter().any(|idle| idle.key == key)
}

impl Overrides {
    /// Refuses what has no effect beside something else that is named, as the attribute does.
    pub(crate) fn refuse_idle(&self) -> Result<(), PolicyError> {
        for Idle { key, by, word } in idle_in(self.schedule, Section::new()) {
            if self.schedule.names(key) && !self.is_taken(key) {
                return Err(no_effect(None, key, None, by, word));
            }
        }
        for (name, section) in self.named_sections() {
            for Idle { key, by, word } in idle_in(section, self.schedule) {
                if section.names(key) {
                    let of_by = section.names(by).then_some(name);
                    return Err(no_effect(Some(name), key, of_by, by, word));
                }
            }
        }
        match self.hint {
            Some(hint @ (Hint::Clamp | Hint::Ignore)) if self.max_hint.is_some() => {
                let word = Value::from_word(hint, Hint::WORDS);
                Err(no_effect(None, "max_hint", None, "hint", word))
            }
            _ => Ok(()),
        }
    }

    /// Without what has no effect, so that it is not refused when it is read again.
    pub(crate) fn without_idle(&self) -> Self {
        let mut effective = self.clone();
        for Idle { key, .. } in idle_in(self.schedule, Section::new()) {
            if !self.is_taken(key) {
                effective.schedule.forget(key);
            }
        }
        for name in Sections::NAMES {
            if let Some(slot) = effective.sections.named(name)
                && let Some(own) = *slot
            {
                let left = self.section_without_idle(own);
                *slot = if name == "invalid" {
                    self.with_delays_of(own, left)
                } else {
                    left
                };
            }
        }
        if matches!(self.hint, Some(Hint::Clamp | Hint::Ignore)) {
            effective.max_hint = None;
        }
        effective
    }

    /// `None` if nothing is left.
    fn section_without_idle(&self, section: Section) -> Option<Section> {
        let mut left = section;
        for Idle { key, .. } in idle_in(section, self.schedule) {
            left.forget(key);
        }
        Some(left).filter(|left| !left.is_empty() || section.is_empty())
    }

    /// The section `invalid` has delays because it names something of them, even what has no other effect.
    fn with_delays_of(&self, own: Section, left: Option<Section>) -> Option<Section> {
        if left.is_some_and(|left| left.names_delays()) || !own.names_delays() {
            return left;
        }
        let numbers = self.schedule.overridden_by(own);
        let named = left.unwrap_or_default();
        match (numbers.backoff, numbers.jitter) {
            (Some(Backoff::None), _) => left,
            (_, Some(Jitter::Decorrelated)) => Some(named.jitter(Jitter::Decorrelated)),
            (backoff, _) => Some(Section { backoff, ..named }),
        }
    }

    /// Whether a section takes that key from the policy, and there it has an effect. A `base` has to be at or below the
    /// `cap` beside it, so that one is not without the other.
    fn is_taken(&self, key: &str) -> bool {
        let beside = match key {
            "base" => Some("cap"),
            "cap" => Some("base"),
            _ => None,
        };
        let beside = beside.filter(|beside| self.schedule.names(beside));
        self.named_sections().any(|(_, section)| {
            let idle = idle_in(section, self.schedule);
            let takes = |key: &str| !section.names(key) && !holds(&idle, key);
            takes(key) || beside.is_some_and(takes)
        })
    }

    fn named_sections(&self) -> impl Iterator<Item = (&'static str, Section)> {
        let sections = self.sections.entries();
        sections.filter_map(|(name, section)| Some((name, section?)))
    }
}

fn no_effect(
    section: Option<&str>,
    key: &str,
    section_of_by: Option<&str>,
    by: &str,
    word: Option<Value>,
) -> PolicyError {
    let key = Key { section, name: key };
    let by = Key {
        section: section_of_by,
        name: by,
    };
    let word = word.map_or(String::new(), |word| format!(" = {word}"));
    PolicyError::new(format!(
        "`{key}` has no effect with `{by}{word}`: remove one of the two"
    ))
}
