//! Settings of breakers and limiters in texts and tables, with the same grammar and errors as policies.

use core::time::Duration;

use retry_vocabulary::key::Key;

use crate::policy::error::{PolicyError, refused};
use crate::policy::settings::{Settings, settings};
use crate::policy::value::KeyValue;

settings! {
    /// Settings of a `Breaker` from an environment variable or a file. `Breaker::set` applies them, also while calls
    /// are in flight.
    ///
    /// | key | value |
    /// |---|---|
    /// | `ratio` | a number above 0, and at most 1 |
    /// | `open_for` | a duration above zero, as in `10s`; at least 1 ms counts |
    ///
    /// A key that isn't set leaves the setting unchanged. A text is rejected for an unknown key, a repeated key, or a
    /// value out of range. With the feature `serde`, a table with the same keys works, too.
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
    ///     "`breaker.ratio = 1.5` is out of range: it takes a number above 0, and at most 1",
    /// );
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    pub BreakerNumbers {
        /// The share of failed attempts that opens the breaker, above 0 and at most 1.
        pub Ratio ratio: Factor(f64),
        /// The time that the breaker stays open.
        pub OpenFor open_for: Duration(Duration),
    }
}

settings! {
    /// Limits of a `ConcurrencyLimiter` from an environment variable or a file. `ConcurrencyLimiter::set` applies them,
    /// also while calls are in flight.
    ///
    /// | key | value |
    /// |---|---|
    /// | `least` | a whole number from 1 up |
    /// | `most` | a whole number from 1 up, and not below `least` |
    ///
    /// A key that isn't set leaves the limit unchanged. A text is rejected for an unknown key, a repeated key, or a
    /// value out of range. With the feature `serde`, a table with the same keys works, too.
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
    pub LimiterNumbers {
        /// The lower bound of the limit of concurrent attempts.
        pub Least least: Count(u32),
        /// The upper bound of the limit of concurrent attempts.
        pub Most most: Count(u32),
    }
}

impl LimiterNumbers {
    pub(crate) fn checked(self) -> Result<Self, PolicyError> {
        match (self.least, self.most) {
            (Some(least), Some(most)) if least > most => {
                Err(refused!("`least = {least}` is above `most = {most}`"))
            }
            _ => Ok(self),
        }
    }
}
