use core::time::Duration;

use retry_vocabulary::duration;
use retry_vocabulary::key::{Key, KeyScope};

use crate::policy::settings::{known_keys, settings};
use crate::policy::{
    Entries, KeyValue, Policy, PolicyError, PolicySettings, Section, Settings, policy_error,
};

/// The policy keys set by one text or table: one layer of configuration.
///
/// [`Policy::overridden_by`] applies a layer to a policy, key by key. A program's layers are typically its constructor,
/// its configuration file and its command line. Later layers win:
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::configuration::Overrides;
/// use retry_runtime::Policy;
///
/// let file: Overrides = "max=8, cap=1m, throttled(max=20, base=5s)".parse()?;
/// let command_line: Overrides = "max=2, throttled(base=10s)".parse()?;
/// let policy = Policy::new()
///     .base(Duration::from_millis(250))
///     .overridden_by(&file)?
///     .overridden_by(&command_line)?;
/// assert_eq!(
///     policy.to_string(),
///     "max=2, backoff=exp, base=250ms, factor=2, cap=1m, jitter=full, hint=honor, \
///      max_hint=2m, throttled(max=20, base=10s)",
/// );
/// # Ok::<(), retry_runtime::PolicyError>(())
/// ```
///
/// # The text
///
/// Keys and values are the same as in the attribute: `key=value` or `key(value)`, separated by commas, with optional
/// whitespace and optional double quotes around values. An empty text sets nothing.
///
/// | key | value |
/// |---|---|
/// | `max` | a whole number from 0 to 4294967294, or `unlimited` |
/// | `backoff` | `exp`, `fixed`, `linear`, `fibonacci` or `none`; or a list of durations, as in `[1s, 5s, 30s]`, the last of which repeats |
/// | `base`, `cap` | a duration |
/// | `factor` | a number from 1 up |
/// | `floor` | a duration |
/// | `jitter` | `full`, `equal`, `decorrelated` or `none`; or a ratio from 0 to 1, as in `0.2`, or `+0.2` to only add |
/// | `hint` | `honor`, `clamp`, `exact` or `ignore` |
/// | `max_hint` | a duration |
/// | `timeout`, `deadline` | a duration above `0s` |
/// | `total_timeout` | a duration above `0s`: a running attempt is dropped |
/// | `total_delay` | a duration above `0s`, counted in whole milliseconds |
/// | `enabled` | `true` or `false` |
/// | `transient(…)`, `throttled(…)`, `timed_out(…)`, `invalid(…)`, `rejected(…)` | any of `max`, `backoff`, `base`, `factor`, `cap`, `jitter` |
///
/// A duration is written with its units, such as `250ms`, `1.5s`, `2m` or `1h30m`: `ns`, `us`, `ms`, `s`, `m`, `h`, `d`
/// and `w`. The longest is 584 years.
///
/// With the feature `serde`, a table with the same keys works, too. Its sections are nested tables, and its lists are
/// arrays. Numbers may be integers, floats or text. The format must be self-describing, as TOML, JSON and YAML are.
///
/// A text or table is rejected for an unknown key or word, a repeated key, or a value out of range. Values are never
/// rounded into range. `Display` prints the layer's keys in the form above.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    pub(crate) policy: PolicySettings,
    /// This field and the next are only set in entries of [`Policies`](crate::Policies).
    pub(crate) breaker: BreakerSettings,
    pub(crate) limiter: LimiterSettings,
}

impl Policy {
    /// Returns this policy with a layer's values in place of its own, key by key, including sections.
    ///
    /// Fails if the result has a `base` or `floor` above its `cap`, in the policy or in a section with its inherited
    /// values; if its shortest delay is above a time limit, so that no retry could start; or if the layer sets a `base`
    /// or `factor` for delays that come from a list. A layer that sets a list removes an earlier `base` and `factor`.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let error = Policy::new().overridden_by(&"cap=500ms".parse()?).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "`base = 1s` is above `cap = 500ms`: lower the first or raise the second",
    /// );
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    pub fn overridden_by(self, overrides: &Overrides) -> Result<Self, PolicyError> {
        let settings = self.all_set();
        Self { settings }.with_overrides(overrides).try_checked()
    }

    /// Like [`overridden_by`](Self::overridden_by), but without checks, as with setters.
    pub(crate) fn with_overrides(self, overrides: &Overrides) -> Self {
        let settings = self.settings.overridden_by(&overrides.policy);
        Self { settings }
    }

    /// This policy on top of a layer of defaults. The keys for delays act together, so if the policy sets any of them,
    /// no default for delays applies. If the policy sets `max`, no default `max` of a section applies.
    pub(crate) fn with_defaults(self, defaults: &Overrides) -> Self {
        let (own, mut settings) = (&self.settings, defaults.policy);
        let sets_delays = own.sections.iter().any(|section| section.sets_delays());
        if sets_delays || own.call.floor.is_some() {
            settings.call.floor = None;
            settings.sections = settings.sections.map(Section::without_delays);
        }
        if own.sections[0].max.is_some() {
            settings = without_section_max(Self { settings }).settings;
        }
        let settings = settings.overridden_by(own);
        Self { settings }
    }
}

/// Removes the `max` of each section, so that the `max` set next applies to all kinds of failure.
pub fn without_section_max(mut policy: Policy) -> Policy {
    for section in &mut policy.settings.sections {
        section.max = None;
    }
    policy
}

impl Overrides {
    /// A layer that sets nothing.
    pub const fn new() -> Self {
        Self {
            policy: PolicySettings::new(),
            breaker: BreakerSettings::new(),
            limiter: LimiterSettings::new(),
        }
    }

    /// Checks the combination of the layer's own keys, regardless of the policy that it overrides.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        let any = Policy::new().base(Duration::ZERO).cap(duration::LONGEST);
        any.overridden_by(self)?;
        self.limiter.checked().map(drop)
    }

    /// Returns this layer with a later layer's values in place of its own, key by key, including sections.
    ///
    /// If you merge the layers first, they are checked together: a file's `cap` may be below the constructor's `base`
    /// if the command line lowers the `base`, too.
    ///
    /// ```
    /// use retry_runtime::configuration::Overrides;
    /// use retry_runtime::Policy;
    ///
    /// let file: Overrides = "cap=500ms".parse()?;
    /// let command_line: Overrides = "base=100ms".parse()?;
    /// let policy = Policy::new().overridden_by(&file.overridden_by(&command_line))?;
    /// assert!(policy.to_string().contains("base=100ms, factor=2, cap=500ms"));
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    pub fn overridden_by(self, later: &Self) -> Self {
        Self {
            policy: self.policy.overridden_by(&later.policy),
            breaker: later.breaker.or(self.breaker),
            limiter: later.limiter.or(self.limiter),
        }
    }

    /// Reads the keys of a policy, or of an entry of named policies.
    pub(crate) fn read(scope: KeyScope, entries: Entries) -> Result<Self, PolicyError> {
        let mut layer = Self::new();
        for (at, raw) in known_keys(scope, entries)? {
            match at.key {
                Key::Breaker => layer.breaker = Settings::read(at.key, raw.into_keys(at)?)?,
                Key::Limiter => layer.limiter = Settings::read(at.key, raw.into_keys(at)?)?,
                key => layer.policy.set(key, KeyValue::read(at, raw)?),
            }
        }
        Ok(layer)
    }
}

settings! {
    /// Settings of a `Breaker` from an environment variable or a file. `Breaker::set` applies them, even while calls
    /// are in flight.
    ///
    /// | key | value |
    /// |---|---|
    /// | `ratio` | a number above 0, and at most 1 |
    /// | `open_for` | a duration above zero, as in `10s`; below 1 ms counts as 1 ms |
    ///
    /// A key that isn't set leaves the setting unchanged. A text is rejected for an unknown key, a repeated key, or a
    /// value out of range. With the feature `serde`, a table with the same keys works, too.
    ///
    /// ```
    /// use retry_protections::Breaker;
    /// use retry_runtime::configuration::BreakerSettings;
    ///
    /// static STORE: Breaker = Breaker::new();
    ///
    /// STORE.set("ratio=0.8, open_for=10s".parse()?);
    /// let error = "ratio=1.5".parse::<BreakerSettings>().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "`breaker.ratio = 1.5` is out of range: it takes a number above 0, and at most 1",
    /// );
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    pub BreakerSettings {
        /// The share of failed attempts that opens the breaker, above 0 and at most 1.
        pub Ratio ratio: Factor(f64),
        /// The time that the breaker stays open.
        pub OpenFor open_for: Duration(Duration),
    }
}

settings! {
    /// Limits of a `ConcurrencyLimiter` from an environment variable or a file. `ConcurrencyLimiter::set` applies them,
    /// even while calls are in flight.
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
    pub LimiterSettings {
        /// The lower bound of the limit of concurrent attempts.
        pub Least least: Count(u32),
        /// The upper bound of the limit of concurrent attempts.
        pub Most most: Count(u32),
    }
}

impl LimiterSettings {
    pub(crate) fn checked(self) -> Result<Self, PolicyError> {
        match (self.least, self.most) {
            (Some(least), Some(most)) if least > most => {
                Err(policy_error!("`least = {least}` is above `most = {most}`"))
            }
            _ => Ok(self),
        }
    }
}
