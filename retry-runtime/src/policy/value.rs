//! One value of a policy as text and configuration files hold it, and what each key makes of it.

use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use retry_vocabulary::key::At;
use retry_vocabulary::word::Word;
use retry_vocabulary::{complaint, duration, range};

use crate::policy::backoff::Backoff;
use crate::policy::error::{PolicyError, short};
use crate::policy::jitter::Jitter;

/// Texts and tables are read into it and printed from it, so that both have the same keys and checks.
#[derive(Debug)]
pub(crate) enum Value {
    /// Also what no key takes, such as `null`.
    Text(String),
    Bool(bool),
    Integer(i64),
    Float(f64),
    List(Vec<Self>),
    Table(Entries),
}

pub(crate) type Entries = Vec<(String, Value)>;

/// For messages: what holds other values is cut short.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Bool(value) => value.fmt(f),
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
            Self::List(_) => f.write_str("[…]"),
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
        Self::Text(duration::Written(duration).to_string())
    }

    pub(crate) fn from_backoff(backoff: Backoff) -> Self {
        match backoff {
            Backoff::List(delays) => {
                let mut list = Vec::new();
                for delay in *delays {
                    list.push(Self::from_duration(*delay));
                }
                Self::List(list)
            }
            backoff => Self::from_word(backoff.word()),
        }
    }

    pub(crate) fn from_jitter(jitter: Jitter) -> Self {
        match jitter {
            Jitter::Ratio(ratio) => Self::Float(ratio),
            jitter => Self::from_word(jitter.word()),
        }
    }

    pub(crate) fn from_word<W: Word>(word: Option<W>) -> Self {
        Self::Text(String::from(word.map_or("", W::word)))
    }

    pub(crate) fn count(&self, at: At) -> Result<u32, PolicyError> {
        let count = match self {
            Self::Text(text) if text == "unlimited" => return Ok(u32::MAX),
            Self::Text(text) => text.parse().ok(),
            Self::Integer(number) => u32::try_from(*number).ok(),
            // Some formats write every number with a point. Whole ones are printed without.
            Self::Float(number) => number.to_string().parse().ok(),
            Self::Bool(_) | Self::List(_) | Self::Table(_) => None,
        };
        match count {
            Some(count) if count < u32::MAX => Ok(count),
            _ => Err(self.wrong_number(at, range::COUNT)),
        }
    }

    pub(crate) fn factor(&self, at: At) -> Result<f64, PolicyError> {
        match self.number() {
            Some(factor) if range::is_factor(factor) => Ok(factor),
            _ => Err(self.wrong_number(at, range::FACTOR)),
        }
    }

    pub(crate) fn duration(&self, at: At) -> Result<Duration, PolicyError> {
        let text = self.to_string();
        duration::parse(&text).map_err(|fault| {
            PolicyError::new(complaint::no_duration(&at, &short(&text), &text, fault))
        })
    }

    pub(crate) fn positive_duration(&self, at: At) -> Result<Duration, PolicyError> {
        let duration = self.duration(at)?;
        if duration.is_zero() {
            return Err(self.out_of_range(at, range::POSITIVE_DURATION));
        }
        Ok(duration)
    }

    pub(crate) fn backoff(&self, at: At) -> Result<Backoff, PolicyError> {
        let Self::List(values) = self else {
            return self.word(at).map(Backoff::from_word);
        };
        if values.is_empty() {
            return Err(PolicyError::new(complaint::empty_list(&at)));
        }
        let mut delays = Vec::new();
        for value in values {
            delays.push(value.duration(at)?);
        }
        Ok(Backoff::list(&delays))
    }

    pub(crate) fn jitter(&self, at: At) -> Result<Jitter, PolicyError> {
        let Some(ratio) = self.number() else {
            return self.word(at).map(Jitter::from_word);
        };
        match range::check_ratio(ratio) {
            Ok(()) => Ok(Jitter::Ratio(ratio)),
            Err(range) => Err(self.out_of_range(at, range)),
        }
    }

    pub(crate) fn bool(&self, at: At) -> Result<bool, PolicyError> {
        let value = match self {
            Self::Bool(value) => Some(*value),
            // Texts and environment variables hold no other.
            Self::Text(text) => text.parse().ok(),
            Self::Integer(_) | Self::Float(_) | Self::List(_) | Self::Table(_) => None,
        };
        value.ok_or_else(|| {
            let given = short(&self.to_string());
            PolicyError::new(complaint::wrong_kind(&at, &given, range::BOOL))
        })
    }

    pub(crate) fn word<W: Word>(&self, at: At) -> Result<W, PolicyError> {
        let found = match self {
            Self::Text(text) => W::of(text),
            _ => None,
        };
        found.ok_or_else(|| {
            let word = short(&self.to_string());
            PolicyError::new(complaint::unknown_word(at.key, &at, &word, &W::words()))
        })
    }

    /// Says of this value that it `why`.
    pub(crate) fn refused(&self, at: At, why: &str) -> PolicyError {
        PolicyError::new(format!("`{at} = {}` {why}", short(&self.to_string())))
    }

    fn wrong_number(&self, at: At, range: &str) -> PolicyError {
        if self.number().is_some() {
            return self.out_of_range(at, range);
        }
        let given = short(&self.to_string());
        PolicyError::new(complaint::wrong_kind(&at, &given, range))
    }

    fn out_of_range(&self, at: At, range: &str) -> PolicyError {
        let given = short(&self.to_string());
        PolicyError::new(complaint::out_of_range(&at, &given, range))
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Float(number) => Some(*number),
            Self::Integer(number) => number.to_string().parse().ok(),
            Self::Text(text) => text.parse().ok(),
            Self::Bool(_) | Self::List(_) | Self::Table(_) => None,
        }
    }
}
