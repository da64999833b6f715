use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use retry_runtime::macro_support::{
    Driver, Ending, Reporter, Span, Stop, attempt_within, time_left,
};
use retry_runtime::own_loop::{Failure, ProtectionRefs, Protects, Site};
use retry_runtime::seam::{DefaultTimer, Moment, Timer};
use retry_runtime::{Policy, Reason, RejectedBy, Verdict};
use tokio::time::{Instant, timeout_at};

use super::failed::{Failed, WithCauses};
use super::{ClientRetries, Repeats, hooks::GaveUp};
use crate::BoxError;
use crate::repeat::{Repeat, Unrepeatable};

/// The attempts of one call of a client.
pub(crate) struct ClientAttempts<'a, Q: Repeat<A>, A> {
    pub(super) driver: Driver<&'a ClientRetries, DefaultTimer>,
    pub(super) call: ClientCall<'a, Q, A>,
    idempotent: bool,
    /// The result of the call if it gives up: an error, or the fallback's.
    ending: Ending,
    sent: u32,
    deadline: Option<Moment>,
}

/// The request, with the settings of its call.
pub(super) struct ClientCall<'a, Q: Repeat<A>, A> {
    pub(super) retries: &'a ClientRetries,
    policy: &'a Policy,
    /// The time at which the policy's `total_timeout` ends.
    total_end: Option<Moment>,
    pub(super) kept: Q::Kept,
    /// The name of the first request. Set once a hook may have changed the request.
    first_name: Option<Box<str>>,
}

impl<Q: Repeat<A>, A> ClientCall<'_, Q, A> {
    /// Returns the client's name for its calls, or else the name of the first request.
    fn name(&self) -> Cow<'_, str> {
        let name = self.retries.name.as_deref().or(self.first_name.as_deref());
        name.map_or_else(|| Q::name(&self.kept), Cow::Borrowed)
    }

    /// Returns the name of the call's span, if it has one.
    pub(super) fn span_name(&self) -> Option<Box<str>> {
        self.retries.is_spanned.then(|| self.name().into())
    }

    /// Returns the time limit of each attempt.
    pub(super) fn time_limit(&self) -> Option<Duration> {
        let policy = self.retries.times_out.then_some(self.policy)?;
        time_left(policy.attempt_limit(), self.total_end, || {
            Timer::now(&DefaultTimer)
        })
    }
}

impl Protects for ClientRetries {
    fn refs(&self) -> ProtectionRefs<'_> {
        ProtectionRefs {
            budget: self.budget.as_deref().map(|budget| budget as _),
            breaker: self.breaker.as_deref().map(|breaker| breaker as _),
            limiter: self.limiter.as_deref().map(|limiter| limiter as _),
        }
    }
}

impl<'a, Q: Repeat<A>, A> ClientAttempts<'a, Q, A> {
    pub(crate) fn new(
        retries: &'a ClientRetries,
        policy: &'a Policy,
        kept: Q::Kept,
        ending: Ending,
    ) -> Self {
        let limit = policy.time_limit();
        let deadline = limit.and_then(|limit| Timer::now(&DefaultTimer).checked_add(limit));
        let mut driver = Driver::new(retries, DefaultTimer);
        driver.set_end(deadline);
        driver.set_max(policy.retries_allowed());
        driver.retry_rejections();
        driver.need_ready();
        let idempotent = match retries.repeats {
            Repeats::All => true,
            Repeats::IdempotentMethods => Q::is_idempotent(&kept),
            Repeats::None => false,
        };
        Self {
            call: ClientCall {
                total_end: driver.set_total(policy.total_limit().filter(|_| retries.times_out)),
                retries,
                policy,
                kept,
                first_name: None,
            },
            driver,
            idempotent,
            ending,
            sent: 0,
            deadline,
        }
    }

    /// Runs a step of the driver that may report something.
    pub(crate) fn step<V>(
        &mut self,
        step: impl FnOnce(&mut Driver<&'a ClientRetries, DefaultTimer>, Reporter<'_>) -> V,
    ) -> V {
        let Self { driver, call, .. } = self;
        let name = || call.name().into_owned();
        let mut observe = call.retries.observer.as_deref();
        let observe = observe.as_mut().map(|observe| observe as _);
        step(driver, Reporter::named_by(&name).observed_by(observe))
    }

    /// Wraps the attempt so that nested calls detect this call, in a span if the call has one.
    pub(crate) fn in_context<F: Future>(
        &self,
        attempt: Pin<&mut F>,
        number: u32,
    ) -> impl Future<Output = F::Output> {
        let call = &self.call;
        let span = Span::of_attempt(call.retries.is_spanned, || number);
        span.within(|| attempt_within(attempt, call.policy, || call.name().into()))
    }

    /// Returns the request for the next attempt.
    pub(crate) fn request(&self) -> Result<Q, Unrepeatable> {
        Q::again(&self.call.kept, self.sent)
    }

    /// Keeps this request for all later retries, because hooks may have changed it.
    pub(crate) fn keep_request(&mut self, request: Q) -> Q {
        let call = &mut self.call;
        let name = || Q::name(&call.kept).into();
        call.first_name.get_or_insert_with(name);
        request.keep_again(&mut call.kept, call.retries.recorded)
    }

    pub(crate) fn number(&mut self) -> u32 {
        self.driver.next_attempt().number()
    }

    /// Returns true if something other than the attempts can end the call after a pause.
    pub(crate) fn may_end_after_pause(&self) -> bool {
        let retries = self.call.retries;
        retries.breaker.is_some()
            || retries.limiter.is_some()
            || retries.cancelled.is_some()
            || self.deadline.is_some()
    }

    /// Pauses, or waits for a turn of the limiter. Returns `None` if the call ends meanwhile.
    pub(crate) async fn wait(&mut self) -> Option<()> {
        let cancelled = self.call.retries.cancelled();
        self.driver.wait(Box::pin(cancelled)).await;
        self.driver.unless_stopped(Some(()))
    }

    /// Records that a hook ended. An error ends the call.
    pub(crate) fn record_hook(&mut self, outcome: Result<(), BoxError>) {
        let outcome = outcome.map_err(|error| WithCauses(&*error).to_string());
        self.driver.hooked(outcome);
    }

    /// Waits for the future, at most until the deadline or a cancellation. Used for all waits except for the limiter.
    pub(crate) async fn wait_in_time<F: Future>(&self, wait: F) -> Result<F::Output, RejectedBy> {
        let mut wait = pin!(wait);
        let at_once = poll_fn(|context| Poll::Ready(wait.as_mut().poll(context)));
        if let Poll::Ready(output) = at_once.await {
            return Ok(output);
        }
        let left = |end: Moment| end.since(Timer::now(&DefaultTimer));
        let wait = strict_timeout(self.deadline.map_or(Duration::MAX, left), wait);
        let waited = self.call.retries.unless_cancelled(wait).await;
        let in_time = waited.ok_or(RejectedBy::Cancelled)?;
        in_time.ok_or(RejectedBy::Deadline)
    }

    /// Decides whether to retry if the attempt was rejected. Returns true if it was rejected.
    pub(crate) async fn decide_rejection(&mut self) -> bool {
        if self.driver.rejection().is_none() {
            return false;
        }
        let is_cancelled = self.is_cancelled().await;
        let (policy, name) = (self.call.policy, self.call.name().into_owned());
        let site = Site::new(policy, &name);
        self.step(|driver, reporter| driver.rejected(&site, is_cancelled, None, reporter));
        true
    }

    /// Records that the attempt, and so the call, succeeded with this response.
    pub(crate) fn record_success(&mut self, answer: &mut Q::Answer) {
        self.step(Driver::ok);
        store_retries::<Q, A>(answer, self.number());
    }

    /// Returns true if the failure is a non-retryable response at the first attempt, and there is no fallback to
    /// replace it.
    pub(crate) fn returns_answer<E>(&mut self, failed: &Failed<Q::Answer, E>) -> bool {
        let is_answer = failed.outcome.is_ok() && failed.verdict == Verdict::STOP;
        is_answer && self.number() == 1 && self.ending == Ending::Error
    }

    /// Records a non-retryable response at the first attempt. The call counts as a success, but the budget records an
    /// answer instead of a success.
    pub(crate) fn record_final_answer(&mut self) {
        if let Some(budget) = self.call.retries.budget.as_deref() {
            budget.called();
            budget.answered(None);
        }
        self.step(Driver::answered);
        self.step(Driver::report_success);
    }

    /// Records that the attempt failed, perhaps before it started. Returns the failure if another attempt follows.
    pub(crate) async fn record<E>(
        &mut self,
        mut failed: Failed<Q::Answer, E>,
        is_sent: bool,
        is_kept: bool,
    ) -> Result<Failed<Q::Answer, E>, GaveUp<Q::Answer, E>> {
        let is_cancelled = self.is_cancelled().await;
        let call = &mut self.call;
        self.sent = self.sent.saturating_add(u32::from(is_sent));
        if is_sent && failed.verdict.is_ambiguous() {
            Q::failed_ambiguously(&mut call.kept);
        }
        let may_follow = is_sent && failed.verdict.is_retryable();
        let gone = Q::repeatable(&call.kept).err().filter(|_| may_follow);
        if let Some(gone) = gone {
            failed.append_reason(gone);
        }
        let (policy, name) = (call.policy, call.name().into_owned());
        let site = Site::new(policy, &name);
        let mut failure = Failure::new(&site, failed.verdict, &failed.shown)
            // A request that was not sent had no effect.
            .idempotent(self.idempotent || !is_sent)
            .cancelled(is_cancelled)
            .unrepeatable(gone.is_some())
            .ends_with(self.ending);
        if !is_kept {
            failure = failure.forgotten();
        }
        match self.step(|driver, reporter| driver.failed(failure, reporter)) {
            Ok(_) => Ok(failed),
            Err(reason) => Err(gave_up::<Q, A, E>(failed.outcome, self.number(), reason)),
        }
    }

    /// Ends the call with this failure, before its first attempt or after a pause.
    pub(crate) fn record_stop<E>(
        &mut self,
        failed: Failed<Q::Answer, E>,
        stop: &Stop,
    ) -> GaveUp<Q::Answer, E> {
        let ending = self.ending;
        self.step(|driver, reporter| driver.stopped(stop, &failed.shown, ending, reporter));
        gave_up::<Q, A, E>(failed.outcome, self.number() - 1, stop.reason())
    }

    async fn is_cancelled(&mut self) -> bool {
        let cancelled = self.call.retries.cancelled();
        self.driver.is_cancelled(Box::pin(cancelled)).await
    }
}

/// Stores the number of retries in the response.
fn store_retries<Q: Repeat<A>, A>(answer: &mut Q::Answer, attempts: u32) {
    if attempts > 1 {
        Q::retried(answer, attempts - 1);
    }
}

fn gave_up<Q: Repeat<A>, A, E>(
    mut outcome: Result<Q::Answer, E>,
    attempts: u32,
    reason: Reason,
) -> GaveUp<Q::Answer, E> {
    if let Ok(answer) = &mut outcome {
        store_retries::<Q, A>(answer, attempts);
    }
    GaveUp {
        outcome,
        attempts,
        reason,
    }
}

/// Like `timeout`, but an output that is ready exactly at the limit, or polled only then, counts as late.
/// `Duration::MAX` means no limit.
pub(crate) async fn strict_timeout<F: Future>(limit: Duration, wait: F) -> Option<F::Output> {
    let Some(end) = Instant::now().checked_add(limit) else {
        return Some(wait.await);
    };
    let output = timeout_at(end, wait).await.ok()?;
    (Instant::now() < end).then_some(output)
}
