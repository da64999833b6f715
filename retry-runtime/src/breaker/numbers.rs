use core::str::FromStr;
use core::time::Duration;

use retry_vocabulary::{complaint, duration};

#[cfg(feature = "std")]
use crate::breaker::circuit::Breaker;
use crate::policy::error::{PolicyError, short};
use crate::policy::protection_numbers;
use crate::policy::value::Entries;

/// Numbers of a [`Breaker`] from an environment variable or a file: [`Breaker::set`] puts them in force while calls
/// run.
///
/// | key | value |
/// |---|---|
/// | `ratio` | a number above 0, and at most 1 |
/// | `open_for` | a duration, as in `10s`: from 1 ms to 584 years |
///
/// A key that isn't named keeps its number. A text is refused for an unknown key, a key named twice, or a value out of
/// range. With the feature `serde`, a table with the same keys works, too.
///
/// ```
/// use retry_runtime::{Breaker, BreakerNumbers};
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

#[cfg(feature = "std")]
impl Breaker {
    /// Changes the numbers that configuration names, from now on.
    pub fn set(&self, numbers: BreakerNumbers) {
        self.set_numbers(numbers.ratio, numbers.open_for);
    }
}

impl FromStr for BreakerNumbers {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        Self::of(protection_numbers::entries(text)?)
    }
}

impl BreakerNumbers {
    pub(crate) fn of(entries: Entries) -> Result<Self, PolicyError> {
        let [ratio, open_for] = protection_numbers::values(["ratio", "open_for"], entries)?;
        let is_ratio = |ratio: &f64| *ratio > 0.0 && *ratio <= 1.0;
        let open_for = open_for.map(|text| {
            let (key, given) = (&"open_for", short(&text));
            match duration::parse(&text) {
                Ok(open_for) if open_for >= Duration::from_millis(1) => Ok(open_for),
                Ok(_) => Err(complaint::out_of_range(
                    key,
                    &given,
                    "a duration from 1 ms up",
                )),
                Err(fault) => Err(complaint::no_duration(key, &given, &text, fault)),
            }
        });
        Ok(Self {
            ratio: protection_numbers::number(
                "ratio",
                ratio,
                is_ratio,
                "a number above 0, and at most 1",
            )?,
            open_for: open_for.transpose().map_err(PolicyError::new)?,
        })
    }

    /// Lays other numbers over these.
    pub(crate) fn overridden_by(self, later: Self) -> Self {
        Self {
            ratio: later.ratio.or(self.ratio),
            open_for: later.open_for.or(self.open_for),
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for BreakerNumbers {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        protection_numbers::read_table(deserializer, Self::of)
    }
}
