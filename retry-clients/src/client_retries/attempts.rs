use std::borrow::Cow;
use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use retry_runtime::macro_support::attempt_within;
use retry_runtime::{
    Attempts, Event, Moment, NextAttempt, Policy, Protections, Reason, RejectedBy, Shared, Site,
    Stopwatch, Timer, TokioTimer,
};
use tokio::time::{Instant, timeout_at};

use super::hooks::GaveUp;
use super::run::{Ended, Failed, Shown};
use super::{Breaker, Budget, ClientRetries, Queue, Repeats};
use crate::repeat::{Repeat, Unrepeatable};

/// The attempts of one call with a client's requests.
pub(crate) struct ClientAttempts<'a, Q: Repeat<A>, A> {
    shared: SharedByClient<'a, Q, A>,
    attempts: Attempts<ProtectionsOf<'a>>,
    idempotent: bool,
    /// Whether a last resort is called where the call gives up.
    falls_back: bool,
    sent: u32,
    deadline: Option<Moment>,
}

type ProtectionsOf<'a> = Protections<Option<&'a Budget>, Option<&'a Breaker>, Option<&'a Queue>>;

/// What the calls of a client share, and the request. The call's name is asked for where something is told.
struct SharedByClient<'a, Q: Repeat<A>, A> {
    retries: &'a ClientRetries,
    protections: ProtectionsOf<'a>,
    kept: Q::Kept,
    /// The name of the first request, once a hook may have changed the request.
    name: Option<Box<str>>,
    stopwatch: Stopwatch,
}

/// What the client's calls are named, or else the first request, or else this one.
fn name<'a, Q: Repeat<A>, A>(
    retries: &'a ClientRetries,
    first: Option<&'a str>,
    kept: &'a Q::Kept,
) -> Cow<'a, str> {
    let name = retries.name.as_deref().or(first);
    name.map_or_else(|| Q::name(kept), Cow::Borrowed)
}

impl<'a, Q: Repeat<A>, A> Shared for SharedByClient<'a, Q, A> {
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
        let name = name::<Q, A>(self.retries, self.name.as_deref(), &self.kept);
        let site = Site::new(&self.retries.policy, &name);
        match self.retries.observer.as_deref() {
            Some(mut observer) => {
                let (stopwatch, now) = (&mut self.stopwatch, || TokioTimer.now());
                let mut observe = |event: &Event<'_>| stopwatch.tell(event, &now, &mut observer);
                tell(&site, Some(&mut observe))
            }
            None => tell(&site, None),
        }
    }
}

impl<'a, Q: Repeat<A>, A> ClientAttempts<'a, Q, A> {
    pub(crate) fn new(retries: &'a ClientRetries, kept: Q::Kept, falls_back: bool) -> Self {
        let limit = retries.policy.time_limit();
        let idempotent = match retries.repeats {
            Repeats::All => true,
            Repeats::OfIdempotentMethods => Q::is_idempotent(&kept),
            Repeats::None => false,
        };
        Self {
            shared: SharedByClient {
                retries,
                protections: protections(retries, retries.budget.as_deref()),
                kept,
                name: None,
                stopwatch: Stopwatch::new(),
            },
            attempts: Attempts::new(),
            idempotent,
            falls_back,
            sent: 0,
            deadline: limit.and_then(|limit| TokioTimer.now().checked_add(limit)),
        }
    }

    /// The attempt, so that calls within it know of this call.
    pub(crate) fn within<F: Future>(
        &self,
        attempt: Pin<&mut F>,
    ) -> impl Future<Output = F::Output> {
        let SharedByClient {
            retries,
            name: first,
            kept,
            ..
        } = &self.shared;
        let name = || name::<Q, A>(retries, first.as_deref(), kept).into();
        attempt_within(attempt, &retries.policy, name)
    }

    /// What is kept of the request.
    pub(crate) fn kept(&self) -> &Q::Kept {
        &self.shared.kept
    }

    /// The request, to be sent again.
    pub(crate) fn again(&self) -> Result<Q, Unrepeatable> {
        Q::again(&self.shared.kept, self.sent)
    }

    /// Sends that request from now on, which hooks may have changed since it was kept.
    pub(crate) fn keep_again(&mut self, request: Q) -> Q {
        let shared = &mut self.shared;
        let name = || Q::name(&shared.kept).into();
        shared.name.get_or_insert_with(name);
        request.keep_again(&mut shared.kept, shared.retries.recorded)
    }

    /// The number of the attempt.
    pub(crate) fn number(&self) -> u32 {
        self.attempts.call().attempt()
    }

    /// What hooks are told of the attempt that follows.
    pub(crate) fn next(&self) -> NextAttempt {
        self.attempts.call().next_attempt()
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
    pub(crate) async fn wait_for_turn(&mut self) -> Result<(), RejectedBy> {
        // Also without a limiter, as the service may have to be waited for.
        Attempts::look(self.shared.guards())?;
        if self.attempts.enter(&mut self.shared, 1)? {
            let never = pin!(pending::<()>());
            let wait = self.attempts.wait(TokioTimer, self.deadline, never);
            let waited = self.shared.retries.unless_cancelled(wait).await;
            let waited = waited.unwrap_or(Err(RejectedBy::Cancelled));
            self.attempts.waited(&mut self.shared, waited)?;
        }
        Ok(())
    }

    /// Waits for something else that the attempt needs, no longer than for its turn.
    pub(crate) async fn in_time<F: Future>(&self, wait: F) -> Result<F::Output, RejectedBy> {
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
        let waited = self.shared.retries.unless_cancelled(wait).await;
        let waited = waited.ok_or(RejectedBy::Cancelled)?;
        waited.ok_or(RejectedBy::Deadline)
    }

    /// Begins the attempt, if the breaker lets it.
    pub(crate) fn begin(&mut self) -> Result<(), RejectedBy> {
        self.attempts.begin(&mut self.shared)
    }

    /// Waits until the rejected attempt may be tried again. Fails if the policy doesn't retry rejections, or no longer.
    pub(crate) async fn pause_after(&mut self, by: RejectedBy) -> Result<(), RejectedBy> {
        let (retries, deadline) = (self.shared.retries, self.deadline);
        let is_cancelled = retries.is_cancelled().await;
        let pause = self.attempts.rejected(&mut self.shared, by, |failure| {
            failure
                .cancelled(is_cancelled)
                .deadline(deadline, || TokioTimer.now())
        });
        let slept = retries.unless_cancelled(TokioTimer.sleep(pause?)).await;
        slept.ok_or(RejectedBy::Cancelled)?;
        let late = |_| RejectedBy::Deadline;
        self.in_time_for_retry().map_err(late)
    }

    /// The attempt succeeded with that answer, and with it the call.
    pub(crate) fn succeeded(&mut self, answer: &mut Q::Answer) {
        self.attempts.answered(&mut self.shared);
        self.attempts.succeeded(&mut self.shared);
        if self.attempts.call().is_retried() {
            Q::retried(answer, self.number() - 1);
        }
    }

    /// Whether the failure is a first answer that no retry changes, and there is no last resort that would replace it.
    pub(crate) fn hands_on<E>(&self, failed: &Failed<Q::Answer, E>) -> bool {
        failed.is_answer() && self.number() == 1 && !self.falls_back
    }

    /// The first answer is one that no retry changes: a success to all but the budget, which decides itself.
    pub(crate) fn answered_finally(&mut self) {
        let retries = self.shared.retries;
        if let Some(budget) = retries.budget.as_deref() {
            budget.called();
            budget.answered(None);
        }
        self.shared.protections = protections(retries, None);
        self.attempts.answered(&mut self.shared);
        self.attempts.succeeded(&mut self.shared);
    }

    /// The attempt failed, perhaps before it began. Returns the pause before the next one, or why there is none.
    pub(crate) fn failed<E>(
        &mut self,
        failed: &mut Failed<Q::Answer, E>,
        is_sent: bool,
        is_cancelled: bool,
    ) -> Result<Duration, Reason> {
        self.sent = self.sent.saturating_add(u32::from(is_sent));
        if is_sent && failed.verdict.is_ambiguous() {
            Q::failed_ambiguously(&mut self.shared.kept);
        }
        let may_follow = is_sent && failed.verdict.is_retryable();
        let repeatable = if may_follow {
            Q::repeatable(self.kept())
        } else {
            Ok(())
        };
        if let Err(gone) = repeatable {
            failed.show(gone);
        }
        // What was not sent had no effect.
        let (idempotent, deadline) = (self.idempotent || !is_sent, self.deadline);
        let (verdict, shown, falls_back) = (failed.verdict, &failed.shown, self.falls_back);
        self.attempts
            .failed(&mut self.shared, verdict, shown, |failure| {
                let failure = failure
                    .idempotent(idempotent)
                    .cancelled(is_cancelled)
                    .unrepeatable(repeatable.is_err())
                    .deadline(deadline, || TokioTimer.now());
                if falls_back {
                    failure.falls_back()
                } else {
                    failure
                }
            })
    }

    /// Says how the call ended: with what the attempt came to.
    pub(crate) fn ended<E>(
        &self,
        failed: Failed<Q::Answer, E>,
        reason: Reason,
    ) -> GaveUp<Q::Answer, E> {
        gave_up::<Q, A, E>(failed.outcome, self.number(), reason)
    }

    /// Ends the call before its first attempt or after a pause, with that failure and for that reason.
    pub(crate) fn gave_up<E>(
        &mut self,
        mut failed: Failed<Q::Answer, E>,
        ended: impl Into<Ended>,
    ) -> GaveUp<Q::Answer, E> {
        let Ended(reason, cause) = ended.into();
        if let Some(cause) = cause {
            failed.show(Shown(&*cause));
        }
        let (shared, shown) = (&mut self.shared, &failed.shown);
        if self.falls_back {
            self.attempts.falls_back(shared, shown, reason);
        } else {
            self.attempts.gave_up(shared, shown, reason);
        }
        gave_up::<Q, A, E>(failed.outcome, self.number() - 1, reason)
    }

    /// Tells how the last resort ended, after so many attempts.
    pub(crate) fn fell_back(&mut self, attempts: u32, ended_with: Result<(), &dyn fmt::Display>) {
        let shared = &mut self.shared;
        self.attempts.fell_back(shared, attempts, ended_with);
    }

    /// Whether a retry may yet begin.
    pub(crate) fn in_time_for_retry(&self) -> Result<(), Reason> {
        let late = self.attempts.late(self.deadline, || TokioTimer.now());
        late.map_or(Ok(()), Err)
    }

    /// Whether the pause may yet begin: what ran before it may have taken too long.
    pub(crate) fn in_time_for_pause(&self) -> Result<(), Reason> {
        let late = self.attempts.outlasts(self.deadline, || TokioTimer.now());
        late.map_or(Ok(()), Err)
    }
}

fn gave_up<Q: Repeat<A>, A, E>(
    mut outcome: Result<Q::Answer, E>,
    attempts: u32,
    reason: Reason,
) -> GaveUp<Q::Answer, E> {
    if let (Ok(answer), 2..) = (&mut outcome, attempts) {
        Q::retried(answer, attempts - 1);
    }
    GaveUp {
        outcome,
        attempts,
        reason,
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
