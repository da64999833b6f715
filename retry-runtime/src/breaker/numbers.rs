use alloc::string::String;
use core::time::Duration;

use retry_vocabulary::{complaint, duration};

#[cfg(feature = "std")]
use crate::breaker::circuit::Breaker;
use crate::policy::error::{PolicyError, short};
use crate::policy::protection_numbers::{number, numbers};

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

numbers! {
    BreakerNumbers {
        ratio: |key, text| {
            let is_ratio = |ratio: &f64| *ratio > 0.0 && *ratio <= 1.0;
            number(key, text, is_ratio, "a number above 0, and at most 1")
        };
        open_for: a_milli_or_more;
    }
}

#[cfg(feature = "std")]
impl Breaker {
    /// Changes the numbers that configuration names, from now on.
    pub fn set(&self, numbers: BreakerNumbers) {
        self.set_numbers(numbers.ratio, numbers.open_for);
    }
}

fn a_milli_or_more(key: &str, text: &str) -> Result<Duration, String> {
    let given = short(text);
    match duration::parse(text) {
        Ok(open_for) if open_for >= Duration::from_millis(1) => Ok(open_for),
        Ok(_) => Err(complaint::out_of_range(
            &key,
            &given,
            "a duration from 1 ms up",
        )),
        Err(fault) => Err(complaint::no_duration(&key, &given, text, fault)),
    }
}
