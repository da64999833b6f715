//! The retry loop of a call, for layers and middlewares.
//!
//! This loop doesn't use `Policy::call`, because the compiler can't show that a chain's future is `Send` for every
//! service.

use std::fmt;
use std::ops::Deref;
use std::pin::pin;
use std::time::Duration;

use retry_runtime::macro_support::{Driver, Ending, Stop, Taken, in_span, of_attempt};
use retry_runtime::{Policy, Reason, Rejected, TimedOut, Verdict, own_loop::NextAttempt};
use tokio::time::timeout;

use super::ClientRetries;
use super::attempts::{ClientAttempts, ClientCall, strict_timeout};
use super::failed::Failed;
use super::hooks::{GaveUp, Hook, HookFuture, Hooks};
use crate::repeat::Repeat;

/// Sends the requests of a call, one at a time.
pub(crate) trait Sender<Q>: Send {
    type Answer: Send;
    type Error: Send;

    /// Waits until a request can be sent.
    fn ready(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send;
    /// Gives back the capacity that `ready` reserved, or the place in the service's queue.
    fn give_up(&mut self);
    fn send(
        &mut self,
        request: Q,
    ) -> impl Future<Output = Result<Self::Answer, Self::Error>> + Send;
}

/// The settings of a layer for requests `Q`, over a service that returns `Result<A, E>`.
pub(crate) trait Keys<Q, A, E>: Send + Sync {
    /// The request in a form that can be sent again.
    type Request: Repeat<A, Answer = Self::Answer>;
    /// The response that calls return.
    type Answer: Send;
    type Error: Send;
    /// True if a non-retryable response at the first attempt, such as an HTTP 404, is not a failed call.
    const RETURNS_FIRST_ANSWER: bool = true;

    fn retries(&self) -> &ClientRetries;
    fn hooks(&self) -> Option<&Hooks<Q, Self::Answer, Self::Error>>;
    /// Returns true if a hook runs between two attempts.
    fn has_hooks(&self) -> bool {
        let runs =
            |hooks: &Hooks<_, _, _>| hooks.before_pause.is_some() || hooks.before_retry.is_some();
        self.hooks().is_some_and(runs)
    }

    /// Returns the policy that the layer's function chooses for this request, if the layer has such a function.
    fn chosen_policy(&self, request: &Q) -> Option<Box<Policy>> {
        let policy_for = self.hooks()?.policy_for.as_deref()?;
        Some(Box::new(policy_for(request, &self.retries().policy)))
    }

    fn wrap(&self, request: Q) -> Self::Request;
    fn unwrap(request: Self::Request) -> Q;
    fn request(request: &mut Self::Request) -> &mut Q;

    fn error(error: E) -> Self::Error;
    fn rejected(&self, rejected: Rejected) -> Self::Error;
    fn timed_out(&self, timed_out: TimedOut) -> Self::Error;
    fn verdict(&self, error: &Self::Error) -> Option<Verdict>;
    fn describe(error: &Self::Error) -> String;
    /// Returns the failure of an attempt with this error. `is_dropped` is true if the time limit dropped the attempt.
    fn failure(&self, error: Self::Error, is_dropped: bool) -> Failed<Self::Answer, Self::Error> {
        let verdict = self.verdict(&error).unwrap_or(Verdict::STOP);
        Failed::new(error, Self::describe, of_attempt(verdict, is_dropped))
    }
}

/// Sends the request until an attempt succeeds, or the call gives up.
pub(crate) async fn run<Q, S, K>(
    keys: impl Deref<Target = K> + Send + Sync,
    mut sender: S,
    request: Q,
) -> Result<K::Answer, K::Error>
where
    S: Sender<Q>,
    K: Keys<Q, S::Answer, S::Error>,
{
    let keys = &*keys;
    let retries = keys.retries();
    let chosen = keys.chosen_policy(&request);
    let policy = chosen.as_deref().unwrap_or(&retries.policy);
    let (request, kept) = keys.wrap(request).keep(retries.recorded);
    let fallback = keys.hooks().and_then(|hooks| hooks.fallback.as_deref());
    let ending = fallback.map_or(Ending::Error, |_| Ending::Fallback);
    let mut attempts = ClientAttempts::<K::Request, _>::new(retries, policy, kept, ending);
    let span = attempts.call.span_name();
    // Pinned here, because a large future is slow to move.
    let call = pin!(async {
        let gave_up = match send_until_success(keys, &mut attempts, &mut sender, request).await {
            Ok(outcome) => return outcome,
            Err(gave_up) => gave_up,
        };
        let Some(fallback) = fallback else {
            return gave_up.outcome;
        };
        // Gives back the reserved capacity, or the place in the service's queue.
        drop(sender);
        let (request, made) = (attempts.request().ok().map(K::unwrap), gave_up.attempts);
        let outcome = fallback(request, gave_up).await;
        let show = |error: &_, with: &mut dyn FnMut(&dyn fmt::Display)| with(&K::describe(error));
        attempts.step(|driver, reporter| {
            driver.fell_back(&Taken::new(made), &outcome, show, reporter);
        });
        outcome
    });
    in_span(span, call).await
}

/// Sends the request until an attempt succeeds. Returns the outcome of a call that didn't fail.
async fn send_until_success<Q, S, K>(
    keys: &K,
    attempts: &mut ClientAttempts<'_, K::Request, S::Answer>,
    sender: &mut S,
    mut request: K::Request,
) -> Result<Result<K::Answer, K::Error>, GaveUp<K::Answer, K::Error>>
where
    S: Sender<Q>,
    K: Keys<Q, S::Answer, S::Error>,
{
    // The call ends with this failure if no other attempt may start.
    let mut before: Option<Failed<K::Answer, K::Error>> = None;
    loop {
        let begun = begin_attempt(keys, attempts, sender).await;
        if let Some(stop) = attempts.driver.stop() {
            let first = || Failed::new(keys.rejected(stop.rejected()), K::describe, Verdict::STOP);
            return Err(attempts.record_stop(before.unwrap_or_else(first), &stop));
        }
        drop(before);
        let (outcome, unsent) = match begun {
            Err(failed) => {
                sender.give_up();
                (Err(failed), Some(request))
            }
            Ok(()) => {
                let number = attempts.number();
                let sent = pin!(send(keys, sender, request, &attempts.call));
                (attempts.in_context(sent, number).await, None)
            }
        };
        let failed = match outcome {
            Ok(mut answer) => {
                attempts.record_success(&mut answer);
                return Ok(Ok(answer));
            }
            // The call didn't fail, so nothing is logged.
            Err(failed) if K::RETURNS_FIRST_ANSWER && attempts.returns_answer(&failed) => {
                attempts.record_final_answer();
                return Ok(failed.outcome);
            }
            Err(failed) => failed,
        };
        (request, before) = prepare_retry(keys, attempts, failed, unsent).await?;
    }
}

/// Decides what follows a failed attempt, and waits for the next one. Returns the request of the next attempt, and the
/// failure if the call may still end with it.
async fn prepare_retry<Q, A, E, K: Keys<Q, A, E>>(
    keys: &K,
    attempts: &mut ClientAttempts<'_, K::Request, A>,
    failed: Failed<K::Answer, K::Error>,
    unsent: Option<K::Request>,
) -> Result<(K::Request, Option<Failed<K::Answer, K::Error>>), GaveUp<K::Answer, K::Error>> {
    let is_kept = attempts.may_end_after_pause() || keys.has_hooks();
    let mut failed = attempts.record(failed, unsent.is_none(), is_kept).await?;
    let mut request = match unsent.map_or_else(|| attempts.request(), Ok) {
        Ok(request) => request,
        Err(gone) => {
            failed.append_reason(gone);
            return Err(attempts.record_stop(failed, &Stop::new(Reason::Unrepeatable)));
        }
    };
    let mut before = (is_kept || K::Request::DRAINS).then_some(failed);
    pause_with_hooks(keys, attempts, &mut before, &mut request).await;
    let goes_on = attempts.driver.unless_stopped(Some(()));
    if goes_on.is_some() && keys.has_hooks() {
        request = attempts.keep_request(request);
    }
    Ok((request, before.filter(|_| is_kept)))
}

/// Runs the hooks, and the pause between them.
async fn pause_with_hooks<Q, A, E, K: Keys<Q, A, E>>(
    keys: &K,
    attempts: &mut ClientAttempts<'_, K::Request, A>,
    failed: &mut Option<Failed<K::Answer, K::Error>>,
    request: &mut K::Request,
) {
    let next = attempts.driver.next_attempt();
    let hook = keys.hooks().and_then(|hooks| hooks.before_pause.as_deref());
    if let Some(hook) = begin_hook(hook, K::request(request), failed, next) {
        attempts.record_hook(hook.await);
    }
    if attempts.driver.pauses() {
        let pause = attempts.wait();
        match failed.as_mut().map(|failed| &mut failed.outcome) {
            Some(Ok(answer)) => K::Request::drain(answer, pause).await,
            _ => pause.await,
        };
    }
    let hook = keys.hooks().and_then(|hooks| hooks.before_retry.as_deref());
    let hook = attempts.driver.unless_stopped(hook);
    if let Some(hook) = begin_hook(hook, K::request(request), failed, next) {
        attempts.record_hook(hook.await);
    }
}

/// Starts a hook. Takes the failure by `&mut`, because it may not be `Sync`.
fn begin_hook<'a, Q, A, E>(
    hook: Option<&dyn Hook<Q, A, E>>,
    request: &'a mut Q,
    failed: &'a mut Option<Failed<A, E>>,
    next: NextAttempt,
) -> Option<HookFuture<'a>> {
    Some(hook?(request, failed.as_ref()?.outcome.as_ref(), next))
}

/// Starts an attempt, unless the call ends first. Fails if the sender does not become ready.
///
/// The wait for the sender has a separate time limit of the same length as an attempt. If both shared one limit, a
/// request might be sent with too little time left for its response.
async fn begin_attempt<Q, S: Sender<Q>, K: Keys<Q, S::Answer, S::Error>>(
    keys: &K,
    attempts: &mut ClientAttempts<'_, K::Request, S::Answer>,
    sender: &mut S,
) -> Result<(), FailedBy<Q, S, K>> {
    let limit = keys.retries().ready_within.or(attempts.call.time_limit());
    let limit = limit.unwrap_or(Duration::MAX);
    let mut begun = Ok(());
    while attempts.step(Driver::waits) {
        if !attempts.driver.gets_ready() {
            if attempts.decide_rejection().await {
                sender.give_up();
            }
            attempts.wait().await;
            continue;
        }
        let ready = strict_timeout(limit, sender.ready());
        let waited = match attempts.wait_in_time(ready).await {
            Ok(Some(ready)) => {
                begun = ready.map_err(K::error);
                Ok(())
            }
            // This timeout is not evidence about the server, so the breaker and the limiter don't record it.
            Ok(None) => return Err(keys.failure(keys.timed_out(TimedOut::new(limit)), true)),
            Err(by) => Err(by),
        };
        attempts.driver.ready(waited);
    }
    begun.map_err(|error| keys.failure(error, false))
}

/// Sends the request and classifies the response, within an attempt's time limit.
async fn send<Q, S, K>(
    keys: &K,
    sender: &mut S,
    request: K::Request,
    call: &ClientCall<'_, K::Request, S::Answer>,
) -> Result<K::Answer, FailedBy<Q, S, K>>
where
    S: Sender<Q>,
    K: Keys<Q, S::Answer, S::Error>,
{
    let attempt = async {
        let answer = sender.send(K::unwrap(request)).await.map_err(K::error)?;
        Ok(K::Request::judge(&call.kept, answer, call.retries).await)
    };
    let (outcome, is_dropped) = match call.time_limit() {
        None => (attempt.await, false),
        Some(limit) => match timeout(limit, attempt).await {
            Ok(outcome) => (outcome, false),
            Err(_) => (Err(keys.timed_out(TimedOut::new(limit))), true),
        },
    };
    let judged = outcome.map_err(|error| keys.failure(error, is_dropped))?;
    match judged.verdict {
        None => Ok(judged.answer),
        Some(verdict) => Err(Failed {
            outcome: Ok(judged.answer),
            shown: judged.shown,
            verdict,
        }),
    }
}

type FailedBy<Q, S, K> = Failed<
    <K as Keys<Q, <S as Sender<Q>>::Answer, <S as Sender<Q>>::Error>>::Answer,
    <K as Keys<Q, <S as Sender<Q>>::Answer, <S as Sender<Q>>::Error>>::Error,
>;
