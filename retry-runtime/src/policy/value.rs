//! One value of a policy: as written in texts and configuration files, and as parsed for a key.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use retry_vocabulary::key::{Key, KeyPath, KeyScope, ValueType};
use retry_vocabulary::word::{self, Word};
use retry_vocabulary::{duration, messages, range};

use crate::policy::{Backoff, Hint, Jitter, PolicyError, Section, Settings, short};

/// A value as written. Both texts and tables are converted to this type first, so that both have the same keys and
/// checks.
#[derive(Clone, Debug)]
pub(crate) enum RawValue {
    /// Text, or another scalar of the file format as text.
    One(String),
    List(Vec<String>),
    Table(Entries),
}

pub(crate) type Entries = Vec<(String, RawValue)>;

impl RawValue {
    /// The value as one text, for keys that take one value, and for messages. Lists and tables are abbreviated.
    pub(crate) fn as_text(&self) -> &str {
        match self {
            Self::One(text) => text,
            Self::List(_) => "[…]",
            Self::Table(_) => "(…)",
        }
    }

    /// The entries of the table. Fails if this is not a table.
    pub(crate) fn into_keys(self, at: KeyPath) -> Result<Entries, PolicyError> {
        match self {
            Self::Table(entries) => Ok(entries),
            other => Err(not_table(&at, &other, KeyScope::Section(at.key))),
        }
    }
}

/// The error for a value that should be a table of these keys.
pub(crate) fn not_table(name: &dyn fmt::Display, value: &RawValue, keys: KeyScope) -> PolicyError {
    let example = keys.keys().next().map_or("", Key::example);
    let keys = format!("keys, as in `{example}`");
    PolicyError::new(messages::wrong_kind(name, &short(value.as_text()), &keys))
}

/// A value of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KeyValue {
    /// A number of retries; `u32::MAX` is unlimited.
    Count(u32),
    Factor(f64),
    Duration(Duration),
    Backoff(Backoff),
    Jitter(Jitter),
    Hint(Hint),
    Bool(bool),
    Section(Section),
}

impl KeyValue {
    pub(crate) fn read(at: KeyPath, raw: RawValue) -> Result<Self, PolicyError> {
        if at.key.is_section() {
            return Section::read(at.key, raw.into_keys(at)?).map(Self::Section);
        }
        let text = raw.as_text();
        let out_of_range = |range| messages::out_of_range(&at, &short(text), range);
        let (number, count) = (text.parse::<f64>().ok(), text.parse::<u32>().ok());
        let number_if = |is_in_range: fn(f64) -> bool| number.filter(|it| is_in_range(*it));
        let count_if = |is_in_range: fn(u32) -> bool| {
            let count = count.filter(|it| is_in_range(*it));
            count.map(Self::Count)
        };
        let takes = at.key.value_type();
        let (value, range) = match (takes, &raw) {
            (ValueType::Count, _) if text == "unlimited" => return Ok(Self::Count(u32::MAX)),
            (ValueType::Count, _) => (count_if(|it| it < u32::MAX), range::COUNT),
            (ValueType::Attempts, _) => (count_if(|it| it > 0), range::ATTEMPTS),
            (ValueType::Factor, _) => {
                (number_if(range::is_factor).map(Self::Factor), range::FACTOR)
            }
            (ValueType::Share, _) => {
                let share = number_if(|it| it > 0.0 && range::is_ratio(it));
                (share.map(Self::Factor), range::SHARE)
            }
            (ValueType::Jitter, _) if number.is_some() => {
                let ratio = number_if(range::is_ratio);
                let jitter = ratio.map(|ratio| Self::Jitter(Jitter::from_text(text, ratio)));
                (jitter, range::RATIO)
            }
            (ValueType::Bool, _) => (text.parse().ok().map(Self::Bool), range::BOOL),
            (ValueType::Jitter, _) => return read_word(at, text).map(Self::Jitter),
            (ValueType::Hint, _) => return read_word(at, text).map(Self::Hint),
            (ValueType::Backoff, RawValue::List(list)) if list.is_empty() => {
                return Err(PolicyError::new(messages::empty_list(&at)));
            }
            (ValueType::Backoff, RawValue::List(list)) => {
                let delays = list.iter().map(|text| read_duration(at, text));
                let delays = delays.collect::<Result<Vec<_>, _>>()?;
                return Ok(Self::Backoff(Backoff::list(&delays)));
            }
            (ValueType::Backoff, _) => return read_word(at, text).map(Self::Backoff),
            _ => match read_duration(at, text)? {
                Duration::ZERO if takes == ValueType::DurationAboveZero => {
                    return Err(PolicyError::new(out_of_range(range::POSITIVE_DURATION)));
                }
                duration => return Ok(Self::Duration(duration)),
            },
        };
        value.ok_or_else(|| {
            PolicyError::new(match number {
                Some(_) if takes != ValueType::Bool => out_of_range(range),
                _ => messages::wrong_kind(&at, &short(text), range),
            })
        })
    }
}

fn read_duration(at: KeyPath, text: &str) -> Result<Duration, PolicyError> {
    let message = |fault| messages::invalid_duration(&at, &short(text), text, fault);
    duration::parse(text).map_err(|fault| PolicyError::new(message(fault)))
}

fn read_word<W: Worded>(at: KeyPath, text: &str) -> Result<W, PolicyError> {
    let words = at.key.value_type().words();
    let message = || messages::unknown_word(at.key, &at, &short(text), &words);
    let word = W::WORDS.iter().find(|(word, _)| word.word() == text);
    let value = word.map(|(_, value)| *value);
    value.ok_or_else(|| PolicyError::new(message()))
}

/// Keys with their values, as in a policy's text.
pub(crate) fn keys_text(values: impl Iterator<Item = (&'static str, KeyValue)>) -> String {
    let written = values.map(|(key, value)| match value {
        KeyValue::Section(_) => format!("{key}({value})"),
        _ => format!("{key}={value}"),
    });
    written.collect::<Vec<_>>().join(", ")
}

/// The value without its key, as in a policy's text.
impl fmt::Display for KeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match *self {
            Self::Count(u32::MAX) => "unlimited".to_owned(),
            Self::Count(count) => count.to_string(),
            Self::Factor(number) | Self::Jitter(Jitter::Ratio(number)) => number.to_string(),
            Self::Jitter(Jitter::Added(ratio)) => format!("+{ratio}"),
            Self::Duration(duration) => duration::DurationText(duration).to_string(),
            Self::Backoff(Backoff::List(delays)) => {
                let written = |delay: &Duration| duration::DurationText(*delay).to_string();
                let delays = delays.iter().map(written);
                format!("[{}]", delays.collect::<Vec<_>>().join(", "))
            }
            Self::Backoff(shape) => shape.text(),
            Self::Jitter(jitter) => jitter.text(),
            Self::Hint(hint) => hint.text(),
            Self::Bool(is_on) => is_on.to_string(),
            Self::Section(section) => keys_text(section.values()),
        })
    }
}

/// An enum, some or all of whose values are words of the vocabulary.
pub(crate) trait Worded: Copy + PartialEq + 'static {
    type Word: Word;

    const WORDS: &[(Self::Word, Self)];

    /// `None` for a value without a word.
    fn word(self) -> Option<Self::Word> {
        let word = Self::WORDS.iter().find(|(_, value)| *value == self);
        word.map(|(word, _)| *word)
    }

    fn text(self) -> String {
        self.word().map_or("", Word::word).to_owned()
    }
}

macro_rules! words {
    ($($name:ident: $($variant:ident)*;)*) => {$(
        impl Worded for $name {
            type Word = word::$name;

            const WORDS: &[(Self::Word, Self)] = &[$((word::$name::$variant, Self::$variant),)*];
        }
    )*};
}

words! {
    Backoff: Exponential Fixed Linear Fibonacci None;
    Jitter: Full Equal Decorrelated None;
    Hint: Honor Clamp Exact Ignore;
}
