use core::time::Duration;

use retry_vocabulary::duration::LONGEST;
use retry_vocabulary::key::Key;
use retry_vocabulary::range;

use crate::policy::settings::{setters, settings};
use crate::policy::{Backoff, Jitter, KeyValue, Settings};

settings! {
    /// Separate values for one [`Kind`](crate::Kind) of failure: the keys `transient(…)`, `throttled(…)`,
    /// `timed_out(…)`, `invalid(…)` and `rejected(…)`.
    ///
    /// A section inherits unset keys from the policy. A section that sets `max` has its own count: its retries don't
    /// count against the policy's `max`, nor other retries against the section's, and its delays grow with its own
    /// count.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::{Policy, Section};
    ///
    /// const POLICY: Policy = Policy::new()
    ///     .max(3)
    ///     .throttled(Section::new().max(10).base(Duration::from_secs(5)));
    /// assert_eq!(
    ///     POLICY.to_string(),
    ///     "max=3, backoff=exp, base=1s, factor=2, cap=30s, jitter=full, hint=honor, \
    ///      max_hint=2m, throttled(max=10, base=5s)",
    /// );
    /// ```
    pub Section {
        pub(crate) Max max: Count(u32),
        pub(crate) Backoff backoff: Backoff(Backoff),
        pub(crate) Base base: Duration(Duration),
        pub(crate) Factor factor: Factor(f64),
        pub(crate) Cap cap: Duration(Duration),
        pub(crate) Jitter jitter: Jitter(Jitter),
    }
}

impl Section {
    /// This section with the values of `above` in place of its own, key by key. A list removes `base` and `factor`.
    pub(crate) const fn overridden_by(self, above: Self) -> Self {
        above.or(match (self.backoff, above.backoff) {
            (_, Some(Backoff::List(_))) | (Some(Backoff::List(_)), Some(_)) => {
                self.without_growth()
            }
            _ => self,
        })
    }

    /// This section without the keys that have no effect with a list.
    pub(crate) const fn without_growth(mut self) -> Self {
        self.base = None;
        self.factor = None;
        self
    }

    /// This section, with its numbers clamped to their ranges.
    pub(crate) const fn within_ranges(mut self) -> Self {
        self.factor = match self.factor {
            Some(f64::INFINITY) => Some(f64::MAX),
            Some(factor) if factor > 1.0 => Some(factor),
            Some(_) => Some(1.0),
            None => None,
        };
        self.jitter = match self.jitter {
            Some(Jitter::Ratio(ratio)) if ratio > 1.0 => Some(Jitter::Ratio(1.0)),
            Some(Jitter::Ratio(ratio)) if !range::is_ratio(ratio) => Some(Jitter::Ratio(0.0)),
            Some(Jitter::Added(ratio)) if ratio > 1.0 => Some(Jitter::Added(1.0)),
            Some(Jitter::Added(ratio)) if !range::is_ratio(ratio) => Some(Jitter::Added(0.0)),
            jitter => jitter,
        };
        self
    }

    /// Returns true if the section sets any key for delays.
    pub(crate) fn sets_delays(self) -> bool {
        self != self.without_delays()
    }

    pub(crate) fn without_delays(self) -> Self {
        Self {
            max: self.max,
            ..Self::new()
        }
    }

    pub(crate) const fn has_list(&self) -> bool {
        matches!(self.backoff, Some(Backoff::List(_)))
    }

    /// Sets the shape of the delays: see [`Policy::backoff`](crate::Policy::backoff).
    pub const fn backoff(self, backoff: Backoff) -> Self {
        let mut above = Self::new();
        above.backoff = Some(backoff);
        let mut section = self.overridden_by(above);
        if let Backoff::List([]) = backoff {
            section.backoff = Some(Backoff::None);
        }
        section
    }

    setters! {
        /// Sets the number of retries after this kind of failure, in a separate count: see
        /// [`Policy::max`](crate::Policy::max).
        max(retries: u32): [max] = retries;
        /// Sets the first delay: see [`Policy::base`](crate::Policy::base).
        base(base: Duration): [base] = clamp_duration(base);
        /// Sets the growth of the delays: see [`Policy::factor`](crate::Policy::factor).
        factor(factor: f64): [factor] = factor;
        /// Sets the longest delay: see [`Policy::cap`](crate::Policy::cap).
        cap(cap: Duration): [cap] = clamp_duration(cap);
        /// Sets the randomness of the delays: see [`Policy::jitter`](crate::Policy::jitter).
        jitter(jitter: Jitter): [jitter] = jitter;
    }
}

/// The duration, limited to the longest one that a policy's text can contain.
pub(crate) const fn clamp_duration(duration: Duration) -> Duration {
    if duration.as_nanos() > LONGEST.as_nanos() {
        return LONGEST;
    }
    duration
}
