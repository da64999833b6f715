use alloc::string::String;

#[cfg(feature = "std")]
use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
#[cfg(feature = "std")]
use crate::out_of_range::OutOfRange;
use crate::policy::error::{PolicyError, refused};
use crate::policy::protection_numbers::{number, numbers};

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

numbers! {
    LimiterNumbers, check {
        least: from_one;
        most: from_one;
    }
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

impl LimiterNumbers {
    pub(crate) fn check(self) -> Result<(), PolicyError> {
        match (self.least, self.most) {
            (Some(least), Some(most)) if least > most => {
                Err(refused!("`least = {least}` is above `most = {most}`"))
            }
            _ => Ok(()),
        }
    }
}

fn from_one(key: &str, text: &str) -> Result<u32, String> {
    number(key, text, |number| *number > 0, "a whole number from 1 up")
}
