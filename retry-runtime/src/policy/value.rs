//! One value of a policy: as written in texts and configuration files, and as parsed for a key.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use retry_vocabulary::key::{At, Key, Takes};
use retry_vocabulary::word::{self, Word};
use retry_vocabulary::{complaint, duration, range};

use crate::policy::error::{PolicyError, short};
use crate::policy::{Backoff, Hint, Jitter};

/// A value as written. Texts and tables are converted to this first, so that both have the same keys and checks.
#[derive(Clone, Debug)]
pub(crate) enum RawValue {
    /// A text, or another scalar of the format, as text.
    One(String),
    List(Vec<String>),
    Table(Entries),
}

pub(crate) type Entries = Vec<(String, RawValue)>;

impl RawValue {
    /// The text for keys that take one value, and for messages. Nested values are shortened.
    pub(crate) fn single(&self) -> &str {
        match self {
            Self::One(text) => text,
            Self::List(_) => "[…]",
            Self::Table(_) => "(…)",
        }
    }
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
}

impl KeyValue {
    pub(crate) fn read(at: At, raw: &RawValue) -> Result<Self, PolicyError> {
        let text = raw.single();
        let number = text.parse::<f64>().ok();
        let refuse = |complaint: fn(&dyn fmt::Display, &str, &str) -> String, range: &str| {
            Err(complaint(&at, &short(text), range))
        };
        let refuse_number = |range| match number {
            Some(_) => refuse(complaint::out_of_range, range),
            None => refuse(complaint::wrong_kind, range),
        };
        let value = match (at.key.takes(), raw) {
            (Takes::Count, _) => match text.parse() {
                Ok(count) if count < u32::MAX => Ok(Self::Count(count)),
                _ if text == "unlimited" => Ok(Self::Count(u32::MAX)),
                _ => refuse_number(range::COUNT),
            },
            (Takes::Factor, _) => match number {
                Some(factor) if range::is_factor(factor) => Ok(Self::Factor(factor)),
                _ => refuse_number(range::FACTOR),
            },
            (Takes::Backoff, RawValue::List(list)) if list.is_empty() => {
                Err(complaint::empty_list(&at))
            }
            (Takes::Backoff, RawValue::List(list)) => {
                let delays = list.iter().map(|text| read_duration(at, text));
                let delays = delays.collect::<Result<Vec<_>, _>>();
                delays.map(|delays| Self::Backoff(Backoff::list(&delays)))
            }
            (Takes::Backoff, _) => {
                read_word(at, text, |word| Self::Backoff(Backoff::from_word(word)))
            }
            (Takes::Jitter, _) => match number.map(|ratio| (ratio, range::check_ratio(ratio))) {
                Some((ratio, Ok(()))) => Ok(Self::Jitter(Jitter::Ratio(ratio))),
                Some((_, Err(range))) => refuse(complaint::out_of_range, range),
                None => read_word(at, text, |word| Self::Jitter(Jitter::from_word(word))),
            },
            (Takes::Hint, _) => read_word(at, text, |word| Self::Hint(Hint::from_word(word))),
            (Takes::Bool, _) => match text.parse() {
                Ok(is_on) => Ok(Self::Bool(is_on)),
                Err(_) => refuse(complaint::wrong_kind, range::BOOL),
            },
            (takes, _) => match read_duration(at, text) {
                Ok(Duration::ZERO) if takes == Takes::DurationAboveZero => {
                    refuse(complaint::out_of_range, range::POSITIVE_DURATION)
                }
                duration => duration.map(Self::Duration),
            },
        };
        value.map_err(PolicyError::new)
    }
}

fn read_duration(at: At, text: &str) -> Result<Duration, String> {
    duration::parse(text).map_err(|fault| complaint::no_duration(&at, &short(text), text, fault))
}

fn read_word<W: Word>(at: At, text: &str, value: fn(W) -> KeyValue) -> Result<KeyValue, String> {
    let complaint = || complaint::unknown_word(at.key, &at, &short(text), &W::words());
    W::of(text).map(value).ok_or_else(complaint)
}

/// The part after a key in a text or a table.
pub(crate) enum Setting {
    One(KeyValue),
    Section(Vec<(Key, Self)>),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = match self {
            Self::One(value) => return value.fmt(f),
            Self::Section(keys) => keys,
        };
        let keys = keys.iter().map(|(key, setting)| match setting {
            Self::One(value) => format!("{key}={value}"),
            Self::Section(_) => format!("{key}({setting})"),
        });
        f.write_str(&keys.collect::<Vec<_>>().join(", "))
    }
}

/// The value without its key, as in a policy's text.
impl fmt::Display for KeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match *self {
            Self::Count(u32::MAX) => "unlimited".to_owned(),
            Self::Count(count) => count.to_string(),
            Self::Factor(number) | Self::Jitter(Jitter::Ratio(number)) => {
                let plain = number.to_string();
                // Without an exponent, `f64::MAX` has 309 digits.
                if plain.len() > 20 {
                    format!("{number:e}")
                } else {
                    plain
                }
            }
            Self::Duration(duration) => duration::Written(duration).to_string(),
            Self::Backoff(Backoff::List(delays)) => {
                let delays = delays
                    .iter()
                    .map(|delay| duration::Written(*delay).to_string());
                format!("[{}]", delays.collect::<Vec<_>>().join(", "))
            }
            Self::Backoff(shape) => shape.text(),
            Self::Jitter(jitter) => jitter.text(),
            Self::Hint(hint) => hint.text(),
            Self::Bool(is_on) => is_on.to_string(),
        })
    }
}

/// Maps the vocabulary's words to the variants of the same names. Some enums have further variants.
macro_rules! words {
    ($($name:ident: $($variant:ident)*;)*) => {$(
        impl $name {
            pub(crate) const fn from_word(word: word::$name) -> Self {
                match word {
                    $(word::$name::$variant => Self::$variant,)*
                }
            }

            /// `None` for a value without a word.
            pub(crate) const fn word(self) -> Option<word::$name> {
                match self {
                    $(Self::$variant => Some(word::$name::$variant),)*
                    #[allow(unreachable_patterns, reason = "a hint is always a word")]
                    _ => None,
                }
            }

            fn text(self) -> String {
                self.word().map_or("", Word::word).to_owned()
            }
        }
    )*};
}

words! {
    Backoff: Exponential Fixed Linear Fibonacci None;
    Jitter: Full Equal Decorrelated None;
    Hint: Honor Clamp Exact Ignore;
}
