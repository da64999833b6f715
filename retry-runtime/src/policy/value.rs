//! One value of a policy as text and configuration files hold it, and what each key makes of it.

use std::fmt;
use std::time::Duration;

use crate::policy::error::Key;
use crate::policy::error::PolicyError;
use crate::policy::jitter::Jitter;

/// Texts and tables are read into it and printed from it, so that both have the same keys and checks.
#[derive(Debug)]
pub(crate) enum Value {
    /// Also what no key takes, such as `true`.
    Text(String),
    Integer(i64),
    Float(f64),
    Table(Entries),
}

pub(crate) type Entries = Vec<(String, Value)>;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => number.fmt(f),
            Self::Float(number) => {
                let plain = number.to_string();
                // Without an exponent, `f64::MAX` has 309 digits.
                if plain.len() > 20 {
                    fmt::LowerExp::fmt(number, f)
                } else {
                    f.write_str(&plain)
                }
            }
            Self::Table(_) => f.write_str("(…)"),
        }
    }
}

impl Value {
    pub(crate) fn from_count(count: u32) -> Self {
        if count == u32::MAX {
            Self::Text(String::from("unlimited"))
        } else {
            Self::Integer(i64::from(count))
        }
    }

    pub(crate) fn from_duration(duration: Duration) -> Self {
        let mut text = humantime::format_duration(duration).to_string();
        text.retain(|c| c != ' ');
        Self::Text(text)
    }

    pub(crate) fn from_jitter(jitter: Jitter) -> Option<Self> {
        match jitter {
            Jitter::Ratio(ratio) => Some(Self::Float(ratio)),
            word => Self::from_word(word, Jitter::WORDS),
        }
    }

    pub(crate) fn from_word<T: Copy + PartialEq>(value: T, words: &[(&str, T)]) -> Option<Self> {
        words
            .iter()
            .find(|(_, known)| *known == value)
            .map(|(word, _)| Self::Text(String::from(*word)))
    }

    pub(crate) fn count(&self, key: Key<'_>) -> Result<u32, PolicyError> {
        const RANGE: &str = "a whole number from 0 to 4294967294, or `unlimited`";
        let count = match self {
            Self::Text(text) if text == "unlimited" => return Ok(u32::MAX),
            Self::Text(text) => text.parse().ok(),
            Self::Integer(number) => u32::try_from(*number).ok(),
            Self::Float(_) | Self::Table(_) => None,
        };
        match count {
            Some(count) if count < u32::MAX => Ok(count),
            _ if self.number().is_some() => Err(PolicyError::out_of_range(key, self, RANGE)),
            _ => Err(PolicyError::wrong(
                key,
                self,
                &format!("is not a count: {RANGE}"),
            )),
        }
    }

    pub(crate) fn duration(&self, key: Key<'_>) -> Result<Duration, PolicyError> {
        parse_duration(&self.to_string()).ok_or_else(|| {
            let with_unit = format!("{self}s");
            let why = if self.number().is_some() && parse_duration(&with_unit).is_some() {
                format!("is not a duration: write a unit, as in `{with_unit}`")
            } else {
                String::from("is not a duration, as `250ms`, `1.5s` and `1h30m` are")
            };
            PolicyError::wrong(key, self, &why)
        })
    }

    pub(crate) fn positive_duration(&self, key: Key<'_>) -> Result<Duration, PolicyError> {
        let duration = self.duration(key)?;
        if duration.is_zero() {
            return Err(PolicyError::out_of_range(
                key,
                self,
                "a duration above `0s`",
            ));
        }
        Ok(duration)
    }

    pub(crate) fn factor(&self, key: Key<'_>) -> Result<f64, PolicyError> {
        const RANGE: &str = "a number from 1 up";
        match self.number() {
            Some(factor) if factor.is_finite() && factor >= 1.0 => Ok(factor),
            Some(_) => Err(PolicyError::out_of_range(key, self, RANGE)),
            None => Err(PolicyError::wrong(
                key,
                self,
                &format!("is not a number: {RANGE}"),
            )),
        }
    }

    pub(crate) fn jitter(&self, key: Key<'_>) -> Result<Jitter, PolicyError> {
        match self.number() {
            Some(ratio) if (0.0..=1.0).contains(&ratio) => Ok(Jitter::Ratio(ratio)),
            Some(_) => Err(PolicyError::out_of_range(key, self, "a ratio from 0 to 1")),
            None => self.find(key, Jitter::WORDS, "; or a ratio from 0 to 1"),
        }
    }

    pub(crate) fn word<T: Copy>(
        &self,
        key: Key<'_>,
        words: &[(&str, T)],
    ) -> Result<T, PolicyError> {
        self.find(key, words, "")
    }

    fn find<T: Copy>(&self, key: Key<'_>, words: &[(&str, T)], or: &str) -> Result<T, PolicyError> {
        let found = match self {
            Self::Text(text) => words.iter().find(|(word, _)| word == text),
            _ => None,
        };
        found.map(|(_, value)| *value).ok_or_else(|| {
            let mut known = Vec::new();
            for (word, _) in words {
                known.push(*word);
            }
            PolicyError::unknown_word(key, self, &known, or)
        })
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Float(number) => Some(*number),
            Self::Integer(number) => number.to_string().parse().ok(),
            Self::Text(text) => text.parse().ok(),
            Self::Table(_) => None,
        }
    }
}

/// A duration by humantime's grammar, which is given one number with its unit at a time: a sum that just
/// exceeds `Duration::MAX` makes it panic.
fn parse_duration(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut start = 0;
    let mut unit_seen = false;
    for (index, c) in text.char_indices() {
        if c.is_ascii_digit() && unit_seen {
            let part = humantime::parse_duration(&text[start..index]).ok()?;
            total = total.checked_add(part)?;
            start = index;
            unit_seen = false;
        } else if c.is_alphabetic() {
            unit_seen = true;
        }
    }
    let last = &text[start..];
    // Alone it needs no unit.
    if last == "0" && start > 0 {
        return None;
    }
    total.checked_add(humantime::parse_duration(last).ok()?)
}
