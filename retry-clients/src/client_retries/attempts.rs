use std::borrow::Cow;
use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use retry_runtime::{
    Attempts, Event, Moment, Policy, Protections, Reason, Rejected, RejectedBy, Shared, Site,
    Timer, TokioTimer, Verdict,
};
use tokio::time::{Instant, timeout_at};

use super::{Breaker, Budget, ClientRetries, Queue};

/// The attempts of one call with a client's requests.
pub(crate) struct ClientAttempts<'a, N> {
    shared: SharedByClient<'a, N>,
    attempts: Attempts<ProtectionsOf<'a>>,
    idempotent: bool,
    sent: u32,
    deadline: Option<Moment>,
}

type ProtectionsOf<'a> = Protections<Option<&'a Budget>, Option<&'a Breaker>, Option<&'a Queue>>;

/// What the calls of a client share. The call's name is asked for where something is told.
struct SharedByClient<'a, N> {
    retries: &'a ClientRetries,
    protections: ProtectionsOf<'a>,
    name: N,
}

impl<'a, N: Fn() -> Cow<'a, str>> Shared for SharedByClient<'a, N> {
    type Guards = ProtectionsOf<'a>;

    fn policy(&self) -> &Policy {
        &self.retries.policy
    }

    fn guards(&self) -> &ProtectionsOf<'a> {
        &self.protections
    }

    fn is_observed(&self) -> bool {
        self.retries.observer.is_some()
    }

    fn tell<T>(
        &mut self,
        tell: impl FnOnce(&Site<'_>, Option<&mut dyn FnMut(&Event<'_>)>) -> T,
    ) -> T {
        let name = (self.name)();
        let site = Site::new(&self.retries.policy, &name);
        match self.retries.observer.as_deref() {
            Some(observer) => tell(&site, Some(&mut |event: &Event<'_>| observer(event))),
            None => tell(&site, None),
        }
    }
}

impl<'a, N: Fn() -> Cow<'a, str>> ClientAttempts<'a, N> {
    pub(crate) fn new(retries: &'a ClientRetries, name: N, idempotent: bool) -> Self {
        let limit = retries.policy.time_limit();
        Self {
            shared: SharedByClient {
                retries,
                protections: protections(retries, retries.budget.as_deref()),
                name,
            },
            attempts: Attempts::new(),
            idempotent,
            sent: 0,
            deadline: limit.and_then(|limit| TokioTimer.now().checked_add(limit)),
        }
    }

    /// The time of each attempt.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.shared.retries.policy.attempt_limit()
    }

    /// The number of the attempt.
    pub(crate) fn number(&self) -> u32 {
        self.attempts.call().attempt()
    }

    /// How many of those that failed had sent the request.
    pub(crate) fn sent(&self) -> u32 {
        self.sent
    }

    /// Whether something other than the attempts can end the call after a pause.
    pub(crate) fn may_end_after_pause(&self) -> bool {
        let retries = self.shared.retries;
        retries.breaker.is_some()
            || retries.limiter.is_some()
            || retries.cancelled.is_some()
            || self.deadline.is_some()
    }

    /// Waits for the attempt's turn.
    pub(crate) async fn wait_for_turn(&mut self) -> Result<(), Rejected> {
        // Also without a limiter, as the service may have to be waited for.
        Attempts::look(self.shared.guards()).map_err(Rejected::new)?;
        let waits = self.attempts.enter(&mut self.shared, 1);
        if waits.map_err(Rejected::new)? {
            let never = pin!(pending::<()>());
            let wait = self.attempts.wait(TokioTimer, self.deadline, never);
            let waited = self.shared.retries.unless_cancelled(wait).await;
            let waited = waited.unwrap_or(Err(RejectedBy::Cancelled));
            let waited = self.attempts.waited(&mut self.shared, waited);
            waited.map_err(Rejected::new)?;
        }
        Ok(())
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
        let by = match self.shared.retries.unless_cancelled(wait).await {
            Some(Some(output)) => return Ok(output),
            Some(None) => RejectedBy::Deadline,
            None => RejectedBy::Cancelled,
        };
        Err(Rejected::new(by))
    }

    /// Begins the attempt, if the breaker lets it.
    pub(crate) fn begin(&mut self) -> Result<(), Rejected> {
        let begun = self.attempts.begin(&mut self.shared);
        begun.map_err(Rejected::new)
    }

    /// The attempt succeeded, and with it the call.
    pub(crate) fn succeeded(&mut self) {
        self.attempts.answered(&mut self.shared);
        self.attempts.succeeded(&mut self.shared);
    }

    /// The first answer is one that no retry changes: a success to all but the budget, which decides itself.
    pub(crate) fn answered_finally(&mut self) {
        let retries = self.shared.retries;
        if let Some(budget) = retries.budget.as_deref() {
            budget.called();
            budget.answered(None);
        }
        self.shared.protections = protections(retries, None);
        self.succeeded();
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
        // What was not sent had no effect.
        let (idempotent, deadline) = (self.idempotent || !is_sent, self.deadline);
        self.attempts
            .failed(&mut self.shared, verdict, error, |failure| {
                failure
                    .idempotent(idempotent)
                    .unrepeatable(unrepeatable)
                    .deadline(deadline, || TokioTimer.now())
            })
    }

    /// Ends the call with that error, before its first attempt or after a pause.
    pub(crate) fn gave_up(&mut self, error: &dyn fmt::Display, reason: Reason) {
        self.attempts.gave_up(&mut self.shared, error, reason);
    }

    /// Why no attempt may begin after the pause, if none may.
    pub(crate) fn late(&self) -> Option<Reason> {
        self.attempts.late(self.deadline, || TokioTimer.now())
    }
}

fn protections<'a>(retries: &'a ClientRetries, budget: Option<&'a Budget>) -> ProtectionsOf<'a> {
    Protections::new()
        .budget(budget)
        .breaker(retries.breaker.as_deref())
        .limiter(retries.limiter.as_deref())
}

/// What comes of waiting for less than that. What comes only then, or is looked at only then, is too late.
pub(crate) async fn in_less_than<F: Future>(limit: Duration, wait: F) -> Option<F::Output> {
    let Some(end) = Instant::now().checked_add(limit) else {
        return Some(wait.await);
    };
    let output = timeout_at(end, wait).await.ok()?;
    (Instant::now() < end).then_some(output)
}
