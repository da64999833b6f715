use core::str::FromStr;

#[cfg(feature = "std")]
use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
#[cfg(feature = "std")]
use crate::out_of_range::OutOfRange;
use crate::policy::error::{PolicyError, refused};
use crate::policy::protection_numbers;
use crate::policy::value::Entries;

/// Bounds of a [`ConcurrencyLimiter`] from an environment variable or a file: [`ConcurrencyLimiter::set`] puts them in
/// force while calls run.
///
/// | key | value |
/// |---|---|
/// | `least` | a whole number from 1 up |
/// | `most` | a whole number from 1 up, and not below `least` |
///
/// A key that isn't named keeps its number. A text is refused for an unknown key, a key named twice, or a value out of
/// range. With the feature `serde`, a table with the same keys works, too.
///
/// ```
/// use retry_runtime::ConcurrencyLimiter;
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

#[cfg(feature = "std")]
impl ConcurrencyLimiter {
    /// Changes the bounds that configuration names, from now on, as [`set_limits`](Self::set_limits) does. Fails and
    /// changes nothing if the lower bound would be above the upper one.
    pub fn set(&self, numbers: LimiterNumbers) -> Result<(), OutOfRange> {
        self.change_limits(|least, most| {
            numbers.least.unwrap_or(least)..=numbers.most.unwrap_or(most)
        })
    }
}

impl FromStr for LimiterNumbers {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        Self::of(protection_numbers::entries(text)?)
    }
}

impl LimiterNumbers {
    pub(crate) fn of(entries: Entries) -> Result<Self, PolicyError> {
        const RANGE: &str = "a whole number from 1 up";

        let [least, most] = protection_numbers::values(["least", "most"], entries)?;
        let numbers = Self {
            least: protection_numbers::number("least", least, |least| *least > 0, RANGE)?,
            most: protection_numbers::number("most", most, |most| *most > 0, RANGE)?,
        };
        numbers.check()?;
        Ok(numbers)
    }

    /// Lays other numbers over these.
    pub(crate) fn overridden_by(self, later: Self) -> Self {
        Self {
            least: later.least.or(self.least),
            most: later.most.or(self.most),
        }
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

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for LimiterNumbers {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        protection_numbers::read_table(deserializer, Self::of)
    }
}
