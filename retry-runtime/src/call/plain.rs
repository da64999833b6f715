//! A failure of a call that has no more to say of it.

use std::fmt::Display;
use std::time::Duration;

use super::{Call, Failure};
use crate::emit::{Record, emit};
use crate::site::Site;
use crate::{Backoff, Event, Kind, Reason, Verdict};

impl Call {
    /// As `failed`, for calls that have no more to say of their failures and don't ask for the reason: less code
    /// where they stand. The call goes on as [`next`](Self::next).
    ///
    /// Most failures are not worth a retry, or are transient ones with a retry left and no hint, under a policy that
    /// makes no difference between kinds. They are decided here as [`Failure`] decides them, in half the steps.
    #[cold]
    #[inline(never)]
    pub fn failed_plainly(
        self,
        site: &Site<'_>,
        verdict: Verdict,
        error: &dyn Display,
    ) -> Option<Duration> {
        let policy = site.policy;
        let Some(kind) = verdict.kind() else {
            return self.stopped(site, error);
        };
        if kind != Kind::Transient
            || verdict.hint().is_some()
            || policy.differs_for(Kind::Transient)
            || self.retries >= policy.schedule.max
        {
            return self.failed_otherwise(site, verdict, error);
        }
        // In a function of its own, as what is kept while a delay is reckoned is kept from the start.
        if policy.schedule.backoff != Backoff::None {
            return Some(self.failed_with_delay(site, error));
        }
        self.retrying(site, error, Duration::ZERO);
        Some(Duration::ZERO)
    }

    #[cold]
    #[inline(never)]
    fn failed_with_delay(self, site: &Site<'_>, error: &dyn Display) -> Duration {
        let delay = site.policy.schedule.delay(self.attempt(), Duration::ZERO);
        self.retrying(site, error, delay);
        delay
    }

    #[expect(clippy::inline_always, reason = "as where events are told of")]
    #[inline(always)]
    fn retrying(self, site: &Site<'_>, error: &dyn Display, delay: Duration) {
        let event = move || Event::Retrying {
            call: site.name,
            attempt: self.attempt(),
            max: site.policy.schedule.limit(),
            delay,
            error,
            kind: Kind::Transient,
        };
        emit(Record::Retrying, event, None);
    }

    #[cold]
    #[inline(never)]
    fn stopped(self, site: &Site<'_>, error: &dyn Display) -> Option<Duration> {
        let event = move || Event::GaveUp {
            call: site.name,
            attempt: self.attempt(),
            max: site.policy.schedule.limit(),
            error,
            reason: Reason::NotRetryable,
        };
        emit(Record::GaveUp, event, None);
        None
    }

    #[cold]
    #[inline(never)]
    fn failed_otherwise(
        mut self,
        site: &Site<'_>,
        verdict: Verdict,
        error: &dyn Display,
    ) -> Option<Duration> {
        let mut previous = Duration::ZERO;
        let failure = Failure::new(site, verdict, error);
        failure
            .settle(self.attempt(), &mut self.retries, &mut previous, 0)
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::{Hint, Jitter, Policy, Section, testing};

    fn policy() -> impl Strategy<Value = Policy> {
        let backoff = prop_oneof![
            Just(Backoff::Exponential),
            Just(Backoff::Fixed),
            Just(Backoff::None)
        ];
        let jitter = prop_oneof![Just(Jitter::Full), Just(Jitter::None)];
        let hint = prop_oneof![Just(Hint::Honor), Just(Hint::Clamp), Just(Hint::Ignore)];
        let max = prop_oneof![0..4_u32, Just(u32::MAX)];
        let section = (0..4_u32).prop_map(|max| Section::new().max(max).backoff(Backoff::Fixed));
        let sections = (option::of(section.clone()), option::of(section));
        (max, backoff, jitter, hint, sections).prop_map(
            |(max, backoff, jitter, hint, (transient, timed_out))| {
                let policy = Policy::new().max(max).backoff(backoff).jitter(jitter);
                policy
                    .hint(hint)
                    .transient(transient.unwrap_or_default())
                    .timed_out(timed_out.unwrap_or_default())
            },
        )
    }

    fn verdict() -> impl Strategy<Value = Verdict> {
        let verdict = prop_oneof![
            3 => Just(Verdict::TRANSIENT),
            1 => Just(Verdict::STOP),
            1 => Just(Verdict::THROTTLED),
            1 => Just(Verdict::TIMEOUT),
            1 => Just(Verdict::INVALID),
        ];
        let hint = option::weighted(0.2, 0..100_u64);
        (verdict, hint).prop_map(|(verdict, seconds)| match seconds {
            Some(seconds) => verdict.after(Duration::from_secs(seconds)),
            None => verdict,
        })
    }

    /// What was decided, and what was told of it.
    fn observed(decide: impl FnOnce() -> Option<Duration>) -> (Option<Duration>, Vec<String>) {
        let _seeded = testing::seed(7);
        let recording = testing::record();
        (decide(), recording.lines())
    }

    proptest! {
        #[test]
        fn a_plain_failure_is_decided_as_any_other(
            policy in policy(),
            verdict in verdict(),
            retries in prop_oneof![0..4_u32, u32::MAX - 1..=u32::MAX],
        ) {
            let site = Site::new(&policy, "fetch");
            let mut call = Call { retries };
            let plainly = observed(|| call.failed_plainly(&site, verdict, &"busy"));
            let failure = Failure::new(&site, verdict, &"busy");
            prop_assert_eq!(plainly, observed(|| call.failed(failure).ok()));
        }
    }
}
