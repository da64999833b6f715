#[cfg(feature = "plan")]
use alloc::boxed::Box;
use core::time::Duration;

use crate::admission::AdmissionControl;
use crate::budget::retry_budget::RetryBudget;
use crate::call::driver::Driver;
use crate::call::late;
use crate::call::protections::Protects;
use crate::call::site::Site;
use crate::chain::context::Context;
use crate::chain::into_chain::{IntoChain, Rules};
#[cfg(feature = "plan")]
use crate::observe::Stopwatch;
use crate::observe::progress::Progress;
use crate::observe::warnings::ignores_timeout;
#[cfg(feature = "plan")]
use crate::observe::{Event, EventData};
use crate::observe::{Observe, Reason};
use crate::time::Moment;
use crate::work::in_flight::AttemptsOf;

/// A batch or a plan in flight: its keys, the data shared by its attempts, and its progress.
pub(crate) struct Job<'a, Q: IntoChain> {
    pub(crate) rules: Context<'a, Q::Observer>,
    protections: &'a Q::Protections,
    timer: &'a Q::Timer,
    now: fn(&&'a Q::Timer) -> Moment,
    /// The latest end of the job.
    pub(crate) deadline: Option<Moment>,
    pub(crate) progress: Progress,
}

impl<'a, Q: IntoChain> Job<'a, Q> {
    /// Starts the job now, with this name. `now` reads the timer's clock.
    pub(crate) fn new(
        rules: Rules<Q>,
        name: &'a str,
        protections: &'a Q::Protections,
        timer: &'a Q::Timer,
        now: fn(&&'a Q::Timer) -> Moment,
    ) -> Self {
        let rules = Context::named(rules.policy, rules.settings, name, rules.observer);
        if rules.policy().attempt_limit().is_some() {
            ignores_timeout(name);
        }
        let limit = rules.policy().time_limit();
        Self {
            rules,
            protections,
            timer,
            now,
            deadline: limit.and_then(|limit| now(&timer).checked_add(limit)),
            progress: Progress::default(),
        }
    }

    /// A call within the job, before its first attempt.
    pub(crate) fn attempts(&self) -> AttemptsOf<'a, Q> {
        let mut attempts = Driver::with_clock(self.protections, self.timer, self.now);
        attempts.set_end(self.deadline);
        attempts.retry_rejections();
        attempts.set_max(self.rules.policy().retries_allowed());
        attempts
    }

    pub(crate) fn now(&self) -> Moment {
        (self.now)(&self.timer)
    }

    /// Returns true if the deadline has passed.
    pub(crate) fn is_over(&self) -> bool {
        late::is_over(self.deadline, || self.now())
    }

    /// The reason that nothing may start any more, if the job has ended.
    pub(crate) fn ended(&self, is_cancelled: &mut dyn FnMut() -> bool) -> Option<Reason> {
        if is_cancelled() {
            return Some(Reason::Cancelled);
        }
        self.is_over().then_some(Reason::Deadline)
    }

    /// The time, if there is a deadline to compare it with.
    pub(crate) fn now_of_deadline(&self) -> Moment {
        match self.deadline {
            Some(_) => self.now(),
            None => Moment::from_origin(Duration::ZERO),
        }
    }

    /// The budget that pays for retries.
    pub(crate) fn budget(&self) -> Option<&'a dyn RetryBudget> {
        self.protections.budget()
    }

    /// Returns true if a limiter handles throttled retries, so that the budget need not pay for them.
    pub(crate) fn handles_throttling(&self) -> bool {
        let limiter = self.protections.limiter();
        limiter.is_some_and(AdmissionControl::handles_throttling)
    }

    /// Reports an event under the job's name.
    pub(crate) fn report<V>(
        &mut self,
        report: impl FnOnce(&Site<'_>, Option<Observe<'_>>) -> V,
    ) -> V {
        let Self {
            rules, timer, now, ..
        } = self;
        let (site, reporter) = rules.parts();
        reporter.once(&|| now(timer), |observe| report(&site, observe))
    }

    /// Reports to the observer the progress in the round, out of `all` items or subtasks.
    pub(crate) fn progressed(&mut self, round: u32, all: usize) {
        let mut progress = self.progress;
        self.report(|site, observe| progress.report(site.name(), round, all, observe));
        self.progress = progress;
    }

    /// Reports an attempt of a part to the observer.
    #[cfg(feature = "plan")]
    pub(crate) fn observe(&mut self, part: &mut Part, attempt: u32, data: EventData<'_>) {
        let Self {
            rules, timer, now, ..
        } = self;
        let (site, reporter) = rules.parts_of(&part.name, &mut part.stopwatch);
        reporter.once(&|| now(timer), |observe| {
            if let Some(observe) = observe {
                observe(&Event::new(site.name(), attempt, data));
            }
        });
    }
}

/// A part of a job that is reported under its own name.
#[cfg(feature = "plan")]
pub(crate) struct Part {
    pub(crate) name: Box<str>,
    pub(crate) stopwatch: Option<Box<Stopwatch>>,
}
