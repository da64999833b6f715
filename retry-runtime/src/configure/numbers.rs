//! Settings of breakers and limiters in texts and tables, with the grammar and the errors of policies.

use core::mem;
use core::str::FromStr;
use core::time::Duration;

use retry_vocabulary::{complaint, duration};

use crate::policy::error::{PolicyError, in_entry, refused, short};
use crate::policy::text;
use crate::policy::value::{Entries, RawValue};

/// Settings by their keys, each with the function that parses it; an optional function checks all of them together.
macro_rules! numbers {
    ($numbers:ident, $example:literal $(, $check:ident)? { $($key:ident: $read:expr;)* }) => {
        impl $numbers {
            pub(crate) fn from_entries(entries: Entries) -> Result<Self, PolicyError> {
                let mut numbers = Self::default();
                for (name, raw) in entries {
                    let text = raw.single();
                    let is_twice = match name.as_str() {
                        $(key @ stringify!($key) => numbers.$key.replace($read(key, text)?).is_some(),)*
                        _ => return Err(unknown(&name, &[$(stringify!($key)),*])),
                    };
                    if is_twice {
                        return Err(PolicyError::new(complaint::given_twice(&name)));
                    }
                }
                $(numbers.$check()?;)?
                Ok(numbers)
            }

            /// Reads an entry's table, which may occur only once.
            pub(crate) fn read(&mut self, key: &str, value: RawValue) -> Result<(), PolicyError> {
                let RawValue::Table(keys) = value else {
                    return Err(text::takes_keys(key, $example));
                };
                let read = Self::from_entries(keys).map_err(|error| in_entry(key, &error))?;
                if mem::replace(self, read) != Self::default() {
                    return Err(PolicyError::new(complaint::given_twice(&key)));
                }
                Ok(())
            }

            /// Overrides these settings with later ones.
            pub(crate) fn overridden_by(self, later: Self) -> Self {
                Self { $($key: later.$key.or(self.$key)),* }
            }
        }

        impl FromStr for $numbers {
            type Err = PolicyError;

            fn from_str(text: &str) -> Result<Self, PolicyError> {
                Self::from_entries(text::entries(text, 0)?)
            }
        }
    };
}

/// Settings of a `Breaker` from an environment variable or a file. `Breaker::set` applies them, also while calls are in
/// flight.
///
/// | key | value |
/// |---|---|
/// | `ratio` | a number above 0, and at most 1 |
/// | `open_for` | a duration, as in `10s`: from 1 ms to 584 years |
///
/// A key that isn't set leaves the setting unchanged. A text is rejected for an unknown key, a repeated key, or a value
/// out of range. With the feature `serde`, a table with the same keys works, too.
///
/// ```
/// use retry_protections::Breaker;
/// use retry_runtime::BreakerNumbers;
///
/// static STORE: Breaker = Breaker::new();
///
/// STORE.set("ratio=0.8, open_for=10s".parse()?);
/// let error = "ratio=1.5".parse::<BreakerNumbers>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`ratio = 1.5` is out of range: it takes a number above 0, and at most 1",
/// );
/// # Ok::<(), retry_runtime::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BreakerNumbers {
    ratio: Option<f64>,
    open_for: Option<Duration>,
}

numbers! {
    BreakerNumbers, "ratio=0.8" {
        ratio: |key, text| {
            let is_ratio = |ratio: &f64| *ratio > 0.0 && *ratio <= 1.0;
            number(key, text, is_ratio, "a number above 0, and at most 1")
        };
        open_for: a_milli_or_more;
    }
}

/// Limits of a `ConcurrencyLimiter` from an environment variable or a file. `ConcurrencyLimiter::set` applies them, also
/// while calls are in flight.
///
/// | key | value |
/// |---|---|
/// | `least` | a whole number from 1 up |
/// | `most` | a whole number from 1 up, and not below `least` |
///
/// A key that isn't set leaves the limit unchanged. A text is rejected for an unknown key, a repeated key, or a value
/// out of range. With the feature `serde`, a table with the same keys works, too.
///
/// ```
/// use retry_protections::ConcurrencyLimiter;
///
/// static STORE: ConcurrencyLimiter = ConcurrencyLimiter::aimd();
///
/// STORE.set("most=5".parse()?)?;
/// assert_eq!(STORE.limit(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimiterNumbers {
    least: Option<u32>,
    most: Option<u32>,
}

numbers! {
    LimiterNumbers, "most=5", check {
        least: from_one;
        most: from_one;
    }
}

impl BreakerNumbers {
    /// The ratio, if it is named.
    pub const fn ratio(&self) -> Option<f64> {
        self.ratio
    }

    /// The time that the breaker stays open, if it is named.
    pub const fn open_for(&self) -> Option<Duration> {
        self.open_for
    }
}

impl LimiterNumbers {
    /// The lower bound, if it is named.
    pub const fn least(&self) -> Option<u32> {
        self.least
    }

    /// The upper bound, if it is named.
    pub const fn most(&self) -> Option<u32> {
        self.most
    }

    pub(crate) fn check(self) -> Result<(), PolicyError> {
        match (self.least, self.most) {
            (Some(least), Some(most)) if least > most => {
                Err(refused!("`least = {least}` is above `most = {most}`"))
            }
            _ => Ok(()),
        }
    }
}

fn unknown(name: &str, keys: &[&str]) -> PolicyError {
    let remedy = complaint::suggestion(name, keys);
    refused!("unknown key `{}`: {remedy}", short(name))
}

/// Parses a number within its range.
fn number<N: FromStr>(
    key: &str,
    text: &str,
    is_valid: impl FnOnce(&N) -> bool,
    range: &str,
) -> Result<N, PolicyError> {
    let out_of_range = || PolicyError::new(complaint::out_of_range(&key, &short(text), range));
    text.parse().ok().filter(is_valid).ok_or_else(out_of_range)
}

fn from_one(key: &str, text: &str) -> Result<u32, PolicyError> {
    number(key, text, |number| *number > 0, "a whole number from 1 up")
}

fn a_milli_or_more(key: &str, text: &str) -> Result<Duration, PolicyError> {
    let given = short(text);
    let complaint = match duration::parse(text) {
        Ok(open_for) if open_for >= Duration::from_millis(1) => return Ok(open_for),
        Ok(_) => complaint::out_of_range(&key, &given, "a duration from 1 ms up"),
        Err(fault) => complaint::no_duration(&key, &given, text, fault),
    };
    Err(PolicyError::new(complaint))
}
