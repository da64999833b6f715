//! A batch or a plan in flight, for `retry-work`.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use crate::admission::AdmissionControl;
use crate::budget::retry_budget::RetryBudget;
use crate::call::decide::{Decision, is_paid};
use crate::call::driver::Driver;
use crate::call::failure::Failure;
use crate::call::protections::Protects;
use crate::call::reporter::Reporter;
use crate::call::state::Call;
use crate::call::steps;
use crate::chain::context::Context;
use crate::chain::into_chain::{IntoChain, Shared};
use crate::observe::event::{Event, EventData};
use crate::observe::reason::Reason;
use crate::observe::report::{Observe, report, report_unlogged_end};
use crate::observe::stopwatch::Stopwatch;
use crate::observe::warnings::ignores_timeout;
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::policy::values::Values;
#[cfg(feature = "nested")]
use crate::site::nested;
use crate::site::{Name, Site};
use crate::time::moment::Moment;
use retry_classify::Kind;

/// The policy, the name and the observer of a batch or a plan, and the state that its attempts share.
pub struct Job<'a, Q: IntoChain> {
    /// The policy, the name and the observer.
    pub context: Context<'a, Q::Observer>,
    shared: &'a Shared<Q>,
    now: fn(&&'a Q::Timer) -> Moment,
    deadline: Option<Moment>,
}

impl<'a, Q: IntoChain> Job<'a, Q> {
    /// Starts the job now, with this name. `now` reads the timer's clock.
    pub fn new(
        mut context: Context<'a, Q::Observer>,
        name: &'a str,
        shared: &'a Shared<Q>,
        now: fn(&&'a Q::Timer) -> Moment,
    ) -> Self {
        context.name = Name::Text(name);
        if context.policy().attempt_limit().is_some() {
            ignores_timeout(name);
        }
        let limit = context.policy().time_limit();
        Self {
            context,
            shared,
            now,
            deadline: limit.and_then(|limit| now(&&shared.timer).checked_add(limit)),
        }
    }

    /// The driver of a call within the job, before its first attempt.
    pub fn new_driver(&self) -> Driver<&'a Q::Protections, &'a Q::Timer> {
        let mut attempts =
            Driver::with_clock(&self.shared.protections, &self.shared.timer, self.now);
        attempts.set_end(self.deadline);
        attempts.retry_rejections();
        attempts.set_max(self.context.policy().retries_allowed());
        attempts
    }

    /// True if ambiguous failures may be retried.
    pub fn is_idempotent(&self) -> bool {
        !self.context.settings.is_unrepeatable
    }

    /// The time at which the job must end. `None` without a deadline.
    pub fn deadline(&self) -> Option<Moment> {
        self.deadline
    }

    /// The current time. Without a deadline, an arbitrary time, because nothing is compared with it.
    pub fn now(&self) -> Moment {
        match self.deadline {
            Some(_) => (self.now)(&&self.shared.timer),
            None => Moment::from_origin(Duration::ZERO),
        }
    }

    /// Returns true if the deadline has passed.
    pub fn is_over(&self) -> bool {
        steps::is_over(self.deadline, || self.now())
    }

    /// The reason that no attempt may start after this pause, if the pause ended too late.
    pub fn late_reason(&self, pause: Duration) -> Option<Reason> {
        let is_late = steps::is_late(self.deadline, pause, || self.now());
        is_late.then_some(Reason::Deadline)
    }

    /// The reason that no attempt may start any more, if the job was cancelled or its deadline has passed.
    pub fn end_reason(&self, is_cancelled: &mut dyn FnMut() -> bool) -> Option<Reason> {
        if is_cancelled() {
            return Some(Reason::Cancelled);
        }
        self.is_over().then_some(Reason::Deadline)
    }

    /// The budget that pays for retries.
    pub fn budget(&self) -> Option<&'a dyn RetryBudget> {
        self.shared.protections.refs().budget
    }

    /// Returns true if the budget pays for retries after this kind of failure. A limiter handles throttled retries
    /// instead.
    pub fn is_paid(&self, kind: Kind) -> bool {
        is_paid(kind, self.handles_throttling())
    }

    fn handles_throttling(&self) -> bool {
        let limiter = self.shared.protections.refs().limiter;
        limiter.is_some_and(AdmissionControl::handles_throttling)
    }

    /// Makes one decision for `items` similar failures. For `paid_before` of these, the previous retry was paid for.
    /// Also returns the number of retries that are paid for.
    pub fn decide<'f>(
        &'f self,
        call: &mut Call,
        failure: Failure<'f>,
        (items, paid_before): (usize, usize),
    ) -> (Decision, usize) {
        let mut failure = failure
            .idempotent(self.is_idempotent())
            .limited(self.handles_throttling())
            .items(items, paid_before)
            .with_budget(self.budget());
        let policy = failure.site.policy;
        let decision = call.decide(&mut failure, policy);
        (decision, failure.paid)
    }

    /// The site of a part, and the reporter with the part's name.
    pub fn parts_of<'s>(&'s mut self, part: &'s mut Part) -> (Site<'s>, Reporter<'s>) {
        self.context.parts_of(&part.name, &mut part.stopwatch)
    }

    /// Calls `with` with the site and the observer, if there is one.
    pub fn with_observer<V>(
        &mut self,
        with: impl FnOnce(&Site<'_>, Option<Observe<'_>>) -> V,
    ) -> V {
        let (timer, now) = (&self.shared.timer, self.now);
        let (site, mut reporter) = self.context.parts();
        let (now, own) = (|| now(&timer), &mut Stopwatch::new());
        reporter.timed(&now, own, |observe| with(&site, observe))
    }

    /// Reports an event with the job's name.
    pub fn report(&mut self, attempt: u32, data: EventData<'_>) {
        self.with_observer(|site, observe| {
            report(&Event::new(site.name(), attempt, data), observe);
        });
    }

    /// Reports an end to recordings and the observer, but not to the log: other events have already logged it.
    pub fn report_unlogged_end(&mut self, attempt: u32, data: EventData<'_>) {
        self.with_observer(|site, observe| {
            report_unlogged_end(&Event::new(site.name(), attempt, data), observe);
        });
    }

    /// Reports an event only to the observer.
    pub fn observe(&mut self, attempt: u32, data: EventData<'_>) {
        self.with_observer(|site, observe| report_event(observe, site.name(), attempt, data));
    }

    /// Reports an event of a part only to the observer.
    pub fn observe_part(&mut self, part: &mut Part, attempt: u32, data: EventData<'_>) {
        let (timer, now) = (&self.shared.timer, self.now);
        let (site, mut reporter) = self.context.parts_of(&part.name, &mut part.stopwatch);
        let (now, own) = (|| now(&timer), &mut Stopwatch::new());
        reporter.timed(&now, own, |observe| {
            report_event(observe, site.name(), attempt, data);
        });
    }

    /// Reports that an attempt is retried. `policy` contains the limits to report.
    pub fn report_retrying(
        &mut self,
        policy: &Policy,
        attempt: u32,
        call: Call,
        kind: Kind,
        delay: Duration,
        error: &dyn fmt::Display,
    ) {
        #[cfg(feature = "nested")]
        nested::warn(
            &Site::new(policy, self.context.name()),
            attempt,
            Values::Taken,
            None,
        );
        let (retry, retry_max) = call.retry_count(policy, kind, Values::Taken);
        let data = EventData::Retrying {
            retry,
            retry_max,
            max: limit(policy.retries_allowed()),
            delay,
            error,
            kind,
        };
        self.report(attempt, data);
    }
}

fn report_event(observe: Option<Observe<'_>>, call: &str, attempt: u32, data: EventData<'_>) {
    if let Some(observe) = observe {
        observe(&Event::new(call, attempt, data));
    }
}

/// A part of a job that is reported with its own name, such as a subtask of a plan.
pub struct Part {
    name: Box<str>,
    stopwatch: Option<Box<Stopwatch>>,
}

impl Part {
    /// Creates a part with this name.
    pub fn new(name: String) -> Self {
        Self {
            name: name.into(),
            stopwatch: None,
        }
    }

    /// The part's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}
