use std::borrow::Cow;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use retry_runtime::{
    Call, Event, Failure, Moment, Paid, Permit, Place, Reason, Rejected, RejectedBy, Site, Timer,
    TokioTimer, Verdict,
};
use tokio::time::{Instant, timeout_at};

use super::{Breaker, Budget, ClientRetries, Queue};

/// The attempts of one call, and what they hold of what the call shares with others.
pub(crate) struct Attempts<'a, N> {
    retries: &'a ClientRetries,
    name: N,
    idempotent: bool,
    call: Call,
    sent: u32,
    deadline: Option<Moment>,
    paid: Option<Paid<&'a Budget>>,
    place: Option<Place<&'a Queue>>,
    permit: Option<Permit<&'a Breaker>>,
}

/// What an observer is called with.
type Observe<'a> = &'a mut (dyn FnMut(&Event<'_>) + 'a);

impl<'a, N: Fn() -> Cow<'a, str>> Attempts<'a, N> {
    /// The name is asked for where something is told.
    pub(crate) fn new(retries: &'a ClientRetries, name: N, idempotent: bool) -> Self {
        let limit = retries.policy.time_limit();
        Self {
            retries,
            name,
            idempotent,
            call: Call::new(),
            sent: 0,
            deadline: limit.and_then(|limit| TokioTimer.now().checked_add(limit)),
            paid: None,
            place: None,
            permit: None,
        }
    }

    /// The time of each attempt.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.retries.policy.attempt_limit()
    }

    /// The number of the attempt.
    pub(crate) fn number(&self) -> u32 {
        self.call.attempt()
    }

    /// How many of those that failed had sent the request.
    pub(crate) fn sent(&self) -> u32 {
        self.sent
    }

    /// Whether something other than the attempts can end the call after a pause.
    pub(crate) fn may_end_after_pause(&self) -> bool {
        let retries = self.retries;
        retries.breaker.is_some()
            || retries.limiter.is_some()
            || retries.cancelled.is_some()
            || self.deadline.is_some()
    }

    /// Waits for the attempt's turn. The breaker is asked before any wait, and passed after it.
    pub(crate) async fn wait_for_turn(&self) -> Result<Turn<'a>, Rejected> {
        let retries = self.retries;
        if retries
            .breaker
            .as_ref()
            .is_some_and(|breaker| breaker.is_open())
        {
            return Err(Rejected::new(RejectedBy::Breaker));
        }
        let mut turn = Turn(retries.limiter.as_deref().map(Place::new));
        if let Some(place) = &mut turn.0 {
            let waits = !place.has_turn()
                && self.observed(|call, name, observe| call.waits(name, place, observe));
            if waits {
                let wait = place.wait(TokioTimer, self.deadline);
                let waited = retries.unless_cancelled(wait).await;
                let waited = waited.ok_or(Rejected::new(RejectedBy::Cancelled))??;
                self.observed(|call, name, observe| call.waited(name, waited, observe));
            }
        }
        Ok(turn)
    }

    /// Waits for something else that the attempt needs, no longer than for its turn.
    pub(crate) async fn in_time<F: Future>(&self, wait: F) -> Result<F::Output, Rejected> {
        let mut wait = pin!(wait);
        let at_once = poll_fn(|context| Poll::Ready(wait.as_mut().poll(context)));
        if let Poll::Ready(output) = at_once.await {
            return Ok(output);
        }
        let left = self.deadline.map(|end| end.since(TokioTimer.now()));
        let wait = async {
            match left {
                Some(left) => in_less_than(left, wait).await,
                None => Some(wait.await),
            }
        };
        let by = match self.retries.unless_cancelled(wait).await {
            Some(Some(output)) => return Ok(output),
            Some(None) => RejectedBy::Deadline,
            None => RejectedBy::Cancelled,
        };
        Err(Rejected::new(by))
    }

    /// Begins the attempt, if the breaker lets it.
    pub(crate) fn begin(&mut self, mut turn: Turn<'a>) -> Result<(), Rejected> {
        let retries = self.retries;
        if let Some(breaker) = retries.breaker.as_deref() {
            let Some(permit) = Permit::new(breaker) else {
                return Err(Rejected::new(RejectedBy::Breaker));
            };
            if let Some(transition) = permit.transition() {
                self.observed(|call, name, observe| call.turned(name, transition, &"", observe));
            }
            self.permit = Some(permit);
        }
        if let Some(paid) = self.paid.take() {
            paid.spend();
        }
        if let Some(observer) = &retries.observer {
            self.call
                .started(&(self.name)(), &mut |event| observer(event));
        }
        self.place = turn.0.take();
        Ok(())
    }

    /// The attempt succeeded, and with it the call.
    pub(crate) fn succeeded(&mut self) {
        if let Some(transition) = self.permit.take().and_then(|mut permit| permit.succeeded()) {
            self.observed(|call, name, observe| call.turned(name, transition, &"", observe));
        }
        if let Some(change) = self.place.take().and_then(|mut place| place.succeeded()) {
            self.observed(|call, name, observe| call.limiter_changed(name, change, observe));
        }
        if self.call.is_retried() || self.retries.observer.is_some() {
            let policy = &self.retries.policy;
            self.observed(|call, name, observe| match observe {
                Some(observe) => call.succeeded_observed(&Site::new(policy, name), observe),
                None => call.succeeded(&Site::new(policy, name)),
            });
        }
        if let Some(budget) = self.retries.budget.as_deref() {
            self.call.credit(budget);
        }
    }

    /// The attempt failed, perhaps before it began. Returns the pause before the next one, or why there is none.
    pub(crate) fn failed(
        &mut self,
        verdict: Verdict,
        error: &dyn fmt::Display,
        is_sent: bool,
        unrepeatable: bool,
    ) -> Result<Duration, Reason> {
        self.sent = self.sent.saturating_add(u32::from(is_sent));
        // Paid for an attempt that did not begin.
        self.paid = None;
        let name = (self.name)();
        let site = Site::new(&self.retries.policy, &name);
        let (mut permit, mut place) = (self.permit.take(), self.place.take());
        let mut observe = self.observe();
        let mut failure = Failure::new(&site, verdict, error)
            // What was not sent had no effect.
            .idempotent(self.idempotent || !is_sent)
            .unrepeatable(unrepeatable)
            .deadline(self.deadline, || TokioTimer.now());
        if let Some(budget) = &self.retries.budget {
            failure = failure.budget(&**budget);
        }
        if let Some(permit) = &mut permit {
            failure = failure.permit(permit);
        }
        if let Some(place) = &mut place {
            failure = failure.place(place);
        }
        if let Some(observe) = &mut observe {
            failure = failure.observe(observe);
        }
        let pause = self.call.failed_with(failure)?;
        self.paid = self
            .retries
            .budget
            .as_deref()
            .map(|budget| self.call.paid(budget));
        Ok(pause)
    }

    /// Ends the call with that error, before its first attempt or after a pause.
    pub(crate) fn gave_up(&self, error: &dyn fmt::Display, reason: Reason) {
        let name = (self.name)();
        let site = Site::new(&self.retries.policy, &name);
        let mut observe = self.observe();
        let mut failure = Failure::new(&site, Verdict::TRANSIENT, error);
        if let Some(observe) = &mut observe {
            failure = failure.observe(observe);
        }
        self.call.gave_up(failure, reason);
    }

    /// Whether the next attempt may begin after the pause; if not, the call ends with that error.
    pub(crate) fn resumed(&self, error: &dyn fmt::Display) -> Result<(), Reason> {
        let name = (self.name)();
        let site = Site::new(&self.retries.policy, &name);
        let mut observe = self.observe();
        let mut failure = Failure::new(&site, Verdict::TRANSIENT, error)
            .deadline(self.deadline, || TokioTimer.now());
        if let Some(observe) = &mut observe {
            failure = failure.observe(observe);
        }
        self.call.resumed(failure)
    }

    fn observe(&self) -> Option<impl FnMut(&Event<'_>) + use<'a, N>> {
        let observer = self.retries.observer.as_deref()?;
        Some(|event: &Event<'_>| observer(event))
    }

    #[cold]
    fn observed<T>(&self, report: impl FnOnce(&Call, &str, Option<Observe<'_>>) -> T) -> T {
        let mut observe = self.observe();
        report(
            &self.call,
            &(self.name)(),
            observe.as_mut().map(|observe| observe as _),
        )
    }
}

/// An attempt's turn with the limiter, if that is named. Dropped before the attempt begins, it goes back with what it was
/// charged.
pub(crate) struct Turn<'a>(Option<Place<&'a Queue>>);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.0.take() {
            place.give_back();
        }
    }
}

/// What comes of waiting for less than that. What comes only then, or is looked at only then, is too late.
pub(crate) async fn in_less_than<F: Future>(limit: Duration, wait: F) -> Option<F::Output> {
    let Some(end) = Instant::now().checked_add(limit) else {
        return Some(wait.await);
    };
    let output = timeout_at(end, wait).await.ok()?;
    (Instant::now() < end).then_some(output)
}
