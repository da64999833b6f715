//! Checks for policy values that setters accept, but the attribute, texts and files reject.

use core::time::Duration;

use retry_classify::Kind;
use retry_vocabulary::duration::DurationText;
use retry_vocabulary::key::{Key, KeyPath};
use retry_vocabulary::messages::{self, Bound};
use retry_vocabulary::range;

use crate::policy::{Jitter, Policy, PolicyError, SECTIONS, Section, Values, policy_error, row};

/// A value that is rejected.
#[derive(Clone, Copy)]
enum Fault {
    /// The value is outside the range that the string describes.
    OutOfRange(KeyPath, &'static str),
    Above(Bound, Bound),
    /// A `base` or `factor` with a list.
    WithList(KeyPath),
}

impl Fault {
    /// A message for compile errors, which can't contain the value.
    const fn short_message(self) -> &'static str {
        match self {
            Self::OutOfRange(..) => {
                "a `factor` is a number from 1 up, a `jitter` a ratio from 0 to 1, and a time limit above zero"
            }
            Self::Above(..) => {
                "a `base` or `floor` is above the `cap`: lower the first or raise the second"
            }
            Self::WithList(_) => {
                "a `base` or `factor` has no effect with a list of delays: remove it or the list"
            }
        }
    }
}

impl Policy {
    /// Returns this policy, or an error if it has a value that the attribute would reject: a `base` or `floor` above
    /// the `cap`, in the policy or in a section with its inherited values; a `factor` that is below 1, infinite or not
    /// a number; a jitter ratio outside 0–1; a time limit of zero; a `deadline`, `total_timeout` or `total_delay` below
    /// the shortest possible first delay, so that no retry could start; a `base` or `factor` that was set after a list
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
        let Some(fault) = self.fault() else {
            return self.check_deadline().map(|()| self);
        };
        Err(PolicyError::new(match fault {
            Fault::OutOfRange(at, range) => messages::was_out_of_range(&at, range),
            Fault::Above(low, high) => messages::above_limit(low, high),
            Fault::WithList(at) => messages::no_effect(&at, messages::WITH_LIST),
        }))
    }

    /// Returns this policy, checked at compile time: in a constant, an error of [`try_checked`](Self::try_checked) is a
    /// compile error. The first delay is not compared with the time limits.
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
    /// // a `base` or `floor` is above the `cap`: lower the first or raise the second
    /// const POLICY: Policy = Policy::fixed(Duration::from_secs(60)).checked();
    /// # assert_eq!(POLICY.delays().next(), None);
    /// ```
    ///
    /// # Panics
    ///
    /// Outside of constants, if the policy has an invalid value.
    pub const fn checked(self) -> Self {
        match self.fault() {
            Some(fault) => panic!("{}", fault.short_message()),
            None => self,
        }
    }

    /// Checks that, for at least one kind of failure, the first retry can start within each time limit.
    fn check_deadline(&self) -> Result<(), PolicyError> {
        // Without a section, invalid values are retried without delay, but only some calls have invalid values.
        let has_invalid = self.named(Some(Kind::Invalid)) != Section::new();
        let kinds = Kind::OF_FAILURES.into_iter();
        let kinds = kinds.filter(|kind| *kind != Kind::Invalid || has_invalid);
        let schedules = kinds.map(|kind| self.schedule(Some(kind), Values::Taken));
        let retried = schedules.filter(|schedule| schedule.allows(1));
        // One kind of failure that can be retried in time is enough.
        let Some(shortest) = retried.map(|it| it.range(1, Duration::ZERO).0).min() else {
            return Ok(());
        };
        let limits = [
            (Key::Deadline, self.settings.call.deadline),
            (Key::TotalTimeout, self.total_limit()),
            (Key::TotalDelay, self.delay_limit()),
        ];
        for (key, limit) in limits {
            if let Some(limit) = limit.filter(|limit| *limit < shortest) {
                let (shortest, limit) = (DurationText(shortest), DurationText(limit));
                return Err(policy_error!(
                    "the first retry would come too late (its delay is at least {shortest}, `{key} = {limit}`): lower one or raise the other"
                ));
            }
        }
        Ok(())
    }

    const fn fault(&self) -> Option<Fault> {
        let call = &self.settings.call;
        let mut limits: &[_] = &[
            (Key::Timeout, call.timeout),
            (Key::Deadline, call.deadline),
            (Key::TotalTimeout, call.total_timeout),
            (Key::TotalDelay, call.total_delay),
        ];
        while let &[(key, limit), ref rest @ ..] = limits {
            if let Some(Duration::ZERO) = limit {
                return Some(Fault::OutOfRange(path(None, key), range::POSITIVE_DURATION));
            }
            limits = rest;
        }
        let mut sections: &[_] = &SECTIONS;
        while let [(section, kind), rest @ ..] = sections {
            let fault = self.fault_of(*section, *kind);
            if fault.is_some() {
                return fault;
            }
            sections = rest;
        }
        None
    }

    /// Checks the values that are set for a kind, and that those in force don't contradict each other.
    const fn fault_of(&self, section: Option<Key>, kind: Option<Kind>) -> Option<Fault> {
        let (own, set) = (self.settings.sections[0], self.settings.sections[row(kind)]);
        let is_list = set.has_list() || (set.backoff.is_none() && own.has_list());
        let in_force = self.in_force(self.named(None).overridden_by(self.named(kind)));
        // A section's own keys are reported with the section's name, inherited ones without it. The message doesn't
        // call a value a default, because the program may have set it.
        let cap = bound(section, Key::Cap, set.cap.is_some(), in_force.cap);
        let base = bound(section, Key::Base, set.base.is_some(), in_force.base);
        let floor = bound(None, Key::Floor, false, in_force.floor);
        Some(match (set.base, set.factor, set.jitter) {
            (Some(_), _, _) if is_list => Fault::WithList(path(section, Key::Base)),
            (_, Some(_), _) if is_list => Fault::WithList(path(section, Key::Factor)),
            (_, Some(factor), _) if !range::is_factor(factor) => {
                Fault::OutOfRange(path(section, Key::Factor), range::FACTOR)
            }
            (_, _, Some(Jitter::Ratio(ratio) | Jitter::Added(ratio)))
                if !range::is_ratio(ratio) =>
            {
                Fault::OutOfRange(path(section, Key::Jitter), range::RATIO)
            }
            _ if !is_list && is_above(base, cap) => Fault::Above(base, cap),
            _ if is_above(floor, cap) => Fault::Above(floor, cap),
            _ => return None,
        })
    }
}

const fn path(section: Option<Key>, key: Key) -> KeyPath {
    KeyPath { section, key }
}

const fn bound(section: Option<Key>, key: Key, is_sections: bool, value: Duration) -> Bound {
    Bound {
        at: path(if is_sections { section } else { None }, key),
        value,
        is_default: false,
    }
}

const fn is_above(low: Bound, high: Bound) -> bool {
    low.value.as_nanos() > high.value.as_nanos()
}
