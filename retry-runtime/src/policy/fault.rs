//! The policy values that the attribute, texts and files reject. The setters share these rules.

use core::time::Duration;

use retry_vocabulary::complaint::{self, Bound};
use retry_vocabulary::key::{At, Key};
use retry_vocabulary::range;

use crate::classify::kind::Kind;
use crate::policy::schedule::Schedule;
use crate::policy::{Backoff, Jitter, Policy, PolicyError, Section, Values, row};

/// The policy itself, and its sections with their kinds of failure.
pub(crate) const SECTIONS: [(Option<Key>, Option<Kind>); 6] = [
    (None, None),
    (Some(Key::Transient), Some(Kind::Transient)),
    (Some(Key::Throttled), Some(Kind::Throttled)),
    (Some(Key::TimedOut), Some(Kind::Timeout)),
    (Some(Key::Invalid), Some(Kind::Invalid)),
    (Some(Key::Rejected), Some(Kind::Rejected)),
];

/// A value that is rejected.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    /// The value is not in the range that the text describes.
    OutOfRange(At, &'static str),
    Above(Bound, Bound),
    /// A `base` or `factor` with a list: in that section, or in the policy itself.
    BesideList(Option<Key>),
}

impl From<Fault> for PolicyError {
    fn from(fault: Fault) -> Self {
        Self::new(match fault {
            Fault::OutOfRange(at, range) => complaint::was_out_of_range(&at, range),
            Fault::Above(low, high) => complaint::is_above(low, high),
            Fault::BesideList(section) => {
                let [base, factor] = [Key::Base, Key::Factor].map(|key| At { section, key });
                let reason = complaint::BESIDE_LIST;
                complaint::no_effect(&format_args!("{base}` or `{factor}"), reason)
            }
        })
    }
}

impl Fault {
    /// The message as far as a constant can produce it.
    const fn in_short(self) -> &'static str {
        match self {
            Self::OutOfRange(at, _) => match at.key {
                Key::Factor => "a `factor` is a number from 1 up",
                Key::Jitter => "a `jitter` is a ratio from 0 to 1, of at most 9 decimals",
                _ => "a `timeout`, `deadline` or `total_delay` is above zero",
            },
            Self::Above(low, _) => match low.at.key {
                Key::Floor => "the `floor` is above the `cap`: lower the first or raise the second",
                _ => "a `base` is above its `cap`: lower the first or raise the second",
            },
            Self::BesideList(_) => {
                "a `base` or `factor` has no effect with a list of delays: remove it or the list"
            }
        }
    }
}

impl Policy {
    /// Returns this policy, or an error if it has a value that the attribute would reject: a `base` or `floor` above
    /// the `cap`, in the policy or in a section with its inherited values; a `factor` that is below 1, infinite or not
    /// a number; a jitter ratio outside 0–1 or of more than 9 decimals; a `timeout`, `deadline` or `total_delay` of
    /// zero; a `deadline` or `total_delay` before which no retry starts; a `base` or `factor` that was set after a list
    /// of delays.
    ///
    /// The setters accept such values: they use the nearest valid one, and ignore a `base` or `factor` after a list.
    /// Use this method for policies whose values are only known at run time; for constants there is
    /// [`checked`](Self::checked).
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::Policy;
    ///
    /// let error = Policy::fixed(Duration::from_secs(60)).try_checked().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "`base = 1m` is above `cap = 30s`: lower the first or raise the second",
    /// );
    ///
    /// let error = Policy::new().factor(f64::NAN).try_checked().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "`factor` was out of range: it takes a number from 1 up",
    /// );
    /// ```
    pub fn try_checked(self) -> Result<Self, PolicyError> {
        match self.fault() {
            Some(fault) => Err(fault.into()),
            None => self.check_deadline().map(|()| self),
        }
    }

    /// Returns this policy, checked at compile time: in a constant, an error of [`try_checked`](Self::try_checked) is a
    /// compile error.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::Policy;
    ///
    /// const POLICY: Policy = Policy::fixed(Duration::from_secs(5)).checked();
    /// # assert_eq!(POLICY.delays().next(), Some(Duration::from_secs(5)));
    /// ```
    ///
    /// ```compile_fail
    /// use std::time::Duration;
    /// use retry_runtime::Policy;
    ///
    /// // a `base` is above its `cap`: lower the first or raise the second
    /// const POLICY: Policy = Policy::fixed(Duration::from_secs(60)).checked();
    /// # assert_eq!(POLICY.delays().next(), None);
    /// ```
    ///
    /// # Panics
    ///
    /// Outside of constants, if `try_checked` returns an error.
    pub const fn checked(self) -> Self {
        match self.fault() {
            Some(fault) => panic!("{}", fault.in_short()),
            None => self,
        }
    }

    /// Checks that, for some kind of failure, the first retry can start before each time limit.
    pub(crate) fn check_deadline(&self) -> Result<(), PolicyError> {
        self.check_in_time(Key::Deadline, self.time_limit())?;
        self.check_in_time(Key::TotalDelay, self.delay_limit())
    }

    fn check_in_time(&self, limited_by: Key, limit: Option<Duration>) -> Result<(), PolicyError> {
        let Some(limit) = limit else {
            return Ok(());
        };
        // Without their own values, invalid values are retried without delay, but only some calls have any.
        let has_invalid = self.named(Some(Kind::Invalid)) != Section::new();
        let kinds = SECTIONS[1..].iter().filter(|(_, kind)| match kind {
            Some(Kind::Invalid) => has_invalid,
            // A rejection is not a failure.
            Some(Kind::Rejected) => false,
            _ => true,
        });
        let mut complaint = None;
        for (section, kind) in kinds {
            let schedule = self.schedule(*kind, Values::Taken);
            if !schedule.allows(1) {
                continue;
            }
            let named = self.named(*kind);
            let (shortest, _) = schedule.range(1, Duration::ZERO);
            let plain = schedule.plain_delay(1);
            let (key, is_sections, value) = match (schedule.backoff, schedule.jitter) {
                _ if schedule.floor > limit => (Key::Floor, false, shortest),
                (_, Jitter::Decorrelated) => (Key::Base, named.base.is_some(), shortest),
                (Backoff::List(_), _) => (Key::Backoff, named.backoff.is_some(), plain),
                _ => (Key::Base, named.base.is_some(), plain),
            };
            let delay = bound(*section, key, is_sections, value);
            let limit = bound(None, limited_by, false, limit);
            // One retryable kind is enough.
            let Some(late) = complaint::too_late(delay, shortest, limit) else {
                return Ok(());
            };
            complaint.get_or_insert(late);
        }
        complaint.map_or(Ok(()), |late| Err(PolicyError::new(late)))
    }

    const fn fault(&self) -> Option<Fault> {
        let mut limits: &[_] = &[
            (Key::Timeout, self.timeout),
            (Key::Deadline, self.deadline),
            (Key::TotalDelay, self.total_delay),
        ];
        while let [(key, limit), rest @ ..] = limits {
            if let Some(Duration::ZERO) = limit {
                return Some(out_of_range(None, *key, range::POSITIVE_DURATION));
            }
            limits = rest;
        }
        let mut sections: &[_] = &SECTIONS;
        while let [(section, kind), rest @ ..] = sections {
            let named = &self.sections[row(*kind)];
            let fault = match (named.factor, named.jitter) {
                _ if self.is_beside_list(named) => Some(Fault::BesideList(*section)),
                (Some(factor), _) if !range::is_factor(factor) => {
                    Some(out_of_range(*section, Key::Factor, range::FACTOR))
                }
                (_, Some(Jitter::Ratio(ratio))) if range::check_ratio(ratio).is_err() => {
                    let range = range::FINE_RATIO_IN_RANGE;
                    Some(out_of_range(*section, Key::Jitter, range))
                }
                _ => self.disorder(*section, *kind),
            };
            if fault.is_some() {
                return fault;
            }
            sections = rest;
        }
        None
    }

    /// Returns true if the section, or the policy itself, sets a `base` or `factor` together with a list.
    const fn is_beside_list(&self, named: &Section) -> bool {
        let inherits = named.backoff.is_none() && self.named(None).names_list();
        named.names_growth() && (inherits || named.names_list())
    }

    /// A `base` or `floor` above its `cap`, among the values in force for a kind, or for the policy itself.
    pub(crate) const fn disorder(&self, section: Option<Key>, kind: Option<Kind>) -> Option<Fault> {
        let own = self.named(None);
        let named = self.named(kind);
        let in_force = Schedule::new(own.overridden_by(named), self.floor);
        // A section's own keys are reported with the section's name, inherited ones without it. No value is called a
        // default, because it may be the program's own.
        let cap = bound(section, Key::Cap, named.cap.is_some(), in_force.cap);
        let base = bound(section, Key::Base, named.base.is_some(), in_force.base);
        let floor = bound(None, Key::Floor, false, in_force.floor);
        if !in_force.backoff.is_list() && is_above(base, cap) {
            return Some(Fault::Above(base, cap));
        }
        if is_above(floor, cap) {
            return Some(Fault::Above(floor, cap));
        }
        None
    }
}

const fn out_of_range(section: Option<Key>, key: Key, range: &'static str) -> Fault {
    Fault::OutOfRange(At { section, key }, range)
}

const fn bound(section: Option<Key>, key: Key, is_sections: bool, value: Duration) -> Bound {
    Bound {
        at: At {
            section: if is_sections { section } else { None },
            key,
        },
        value,
        is_default: false,
    }
}

const fn is_above(low: Bound, high: Bound) -> bool {
    low.value.as_nanos() > high.value.as_nanos()
}
