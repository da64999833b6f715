pub(crate) mod backoff;
pub(crate) mod delays;
pub(crate) mod error;
pub(crate) mod hint;
pub(crate) mod jitter;
pub(crate) mod overrides;
pub(crate) mod schedule;
pub(crate) mod section;
pub(crate) mod sections;
#[cfg(feature = "serde")]
mod serde;
mod text;
mod value;

use std::time::Duration;

use crate::classify::kind::Kind;
use crate::policy::backoff::Backoff;
use crate::policy::delays::Delays;
use crate::policy::hint::Hint;
use crate::policy::jitter::Jitter;
use crate::policy::schedule::Schedule;
use crate::policy::section::Section;
use crate::policy::sections::Sections;

/// How many retries, and how long to wait before each: plain data.
///
/// A policy holds the keys `max`, `backoff`, `base`, `factor`, `cap`, `jitter`, `hint`, `max_hint`,
/// `deadline` and the sections `transient(…)`, `throttled(…)`, `timed_out(…)`, `invalid(…)`, with the same
/// names and defaults as the attribute. Every constructor and setter is a `const fn`.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Classify, Policy, Verdict, retry};
///
/// struct Client { policy: Policy }
///
/// impl Client {
///     #[retry(policy = self.policy, on = |_| true)]
///     async fn complete(&self) -> Result<String, String> {
///         Ok(String::from("hello"))
///     }
/// }
///
/// const PATIENT: Policy = Policy::exponential().max(8).cap(Duration::from_secs(120));
/// let client = Client { policy: PATIENT };
/// ```
///
/// As text it is the attribute's own vocabulary, so one command-line flag or environment variable holds a
/// policy. `Display` prints that form back. With the feature `serde` a table of a configuration file does, too.
///
/// ```
/// use retry_runtime::Policy;
///
/// let policy: Policy = "max=5, backoff=exp, base=250ms".parse()?;
/// assert_eq!(policy.to_string().parse(), Ok(policy));
/// # Ok::<(), retry_runtime::PolicyError>(())
/// ```
///
/// The setters take any value: a factor below 1 counts as 1, a jitter ratio outside 0–1 as the nearest
/// inside, and a `base` above `cap` waits `cap`. Text and configuration files refuse such values instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    pub(crate) schedule: Schedule,
    pub(crate) hint: Hint,
    pub(crate) max_hint: Duration,
    pub(crate) deadline: Option<Duration>,
    pub(crate) sections: Sections,
}

impl Policy {
    /// The attribute's defaults: 3 retries, exponential from 1 s by a factor of 2 up to 30 s, full jitter,
    /// hints honoured up to 60 s, no deadline.
    pub const fn new() -> Self {
        Self {
            schedule: Schedule {
                max: 3,
                backoff: Backoff::Exponential,
                base: Duration::from_secs(1),
                factor: 2.0,
                cap: Duration::from_secs(30),
                jitter: Jitter::Full,
            },
            hint: Hint::Honor,
            max_hint: Duration::from_mins(1),
            deadline: None,
            sections: Sections::new(),
        }
    }

    /// The same as [`Policy::new`]: delays that double.
    pub const fn exponential() -> Self {
        Self::new()
    }

    /// The same delay before every retry, with the default jitter.
    pub const fn fixed(delay: Duration) -> Self {
        Self::new().backoff(Backoff::Fixed).base(delay)
    }

    /// Delays that grow by `step` with every retry.
    pub const fn linear(step: Duration) -> Self {
        Self::new().backoff(Backoff::Linear).base(step)
    }

    /// Delays of `base` times 1, 1, 2, 3, 5, 8, …
    pub const fn fibonacci(base: Duration) -> Self {
        Self::new().backoff(Backoff::Fibonacci).base(base)
    }

    /// Retries at once.
    pub const fn none() -> Self {
        Self::new().backoff(Backoff::None)
    }

    /// The retries after the first attempt; 0 = none. Default 3. `u32::MAX` is unlimited.
    pub const fn max(mut self, retries: u32) -> Self {
        self.schedule.max = retries;
        self
    }

    /// Retries without limit: combine it with a [`deadline`](Self::deadline).
    pub const fn unlimited(self) -> Self {
        self.max(u32::MAX)
    }

    /// The shape of the delays. Default [`Backoff::Exponential`].
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.schedule.backoff = backoff;
        self
    }

    /// The first delay. Default 1 s.
    pub const fn base(mut self, base: Duration) -> Self {
        self.schedule.base = base;
        self
    }

    /// The growth of [`Backoff::Exponential`], at least 1. Default 2.
    pub const fn factor(mut self, factor: f64) -> Self {
        self.schedule.factor = factor;
        self
    }

    /// The longest delay, jitter included. Default 30 s. A server's hint may be longer.
    pub const fn cap(mut self, cap: Duration) -> Self {
        self.schedule.cap = cap;
        self
    }

    /// The randomness of the delays. Default [`Jitter::Full`].
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.schedule.jitter = jitter;
        self
    }

    /// What a server's hint does. Default [`Hint::Honor`].
    pub const fn hint(mut self, hint: Hint) -> Self {
        self.hint = hint;
        self
    }

    /// The longest hint that is honoured; a longer one ends the call. Default 60 s.
    pub const fn max_hint(mut self, longest: Duration) -> Self {
        self.max_hint = longest;
        self
    }

    /// The time for the whole call, from its start: no attempt begins and no pause ends after it. An attempt
    /// that runs when it passes is not dropped; the key `timeout` does that. Default none.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Other numbers for transient failures.
    pub const fn transient(mut self, section: Section) -> Self {
        self.sections = self.sections.with(Kind::Transient, section);
        self
    }

    /// Other numbers for throttled requests.
    pub const fn throttled(mut self, section: Section) -> Self {
        self.sections = self.sections.with(Kind::Throttled, section);
        self
    }

    /// Other numbers for timeouts.
    pub const fn timed_out(mut self, section: Section) -> Self {
        self.sections = self.sections.with(Kind::Timeout, section);
        self
    }

    /// Other numbers for invalid values. There is no delay unless the section names `backoff`, `base`, `factor`,
    /// `cap` or `jitter`: waiting improves no answer. What the key `validate` rejects has a count of its own, up
    /// to the policy's `max` where the section names none.
    pub const fn invalid(mut self, section: Section) -> Self {
        self.sections = self.sections.with(Kind::Invalid, section);
        self
    }

    /// The delays without jitter, one for each retry: endless where retries are unlimited.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::Policy;
    ///
    /// let total: Duration = Policy::new().max(5).delays().sum();
    /// assert_eq!(total, Duration::from_secs(1 + 2 + 4 + 8 + 16));
    /// ```
    pub const fn delays(&self) -> Delays {
        Delays::new(self.schedule)
    }

    /// The numbers in force for a failure of that kind, or without one the policy's own, in a call that validates its
    /// values or does not.
    pub(crate) fn schedule(&self, kind: Option<Kind>, validates: bool) -> Schedule {
        match kind {
            Some(kind) => self.schedule.with(&self.section(kind, validates)),
            None => self.schedule,
        }
    }

    /// Whether failures of that kind don't count with the others.
    pub(crate) fn has_own_count(&self, kind: Kind, validates: bool) -> bool {
        self.section(kind, validates).max.is_some()
    }

    /// The policy's own `max`, `u32::MAX` where it is unlimited.
    pub(crate) const fn max_retries(&self) -> u32 {
        self.schedule.max
    }

    pub(crate) const fn hint_rule(&self) -> Hint {
        self.hint
    }

    pub(crate) const fn longest_hint(&self) -> Duration {
        self.max_hint
    }

    pub(crate) const fn time_limit(&self) -> Option<Duration> {
        self.deadline
    }

    /// What differs for that kind, in a call that validates its values or does not.
    fn section(&self, kind: Kind, validates: bool) -> Section {
        let named = self.sections.get(kind).copied().unwrap_or_default();
        if kind != Kind::Invalid {
            return named;
        }
        Section {
            max: named.max.or(validates.then_some(self.schedule.max)),
            backoff: named
                .backoff
                .or((!named.names_delays()).then_some(Backoff::None)),
            ..named
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}
