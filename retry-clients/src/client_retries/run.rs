//! The loop of a call, whatever sends its requests.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::pin::pin;
use std::time::Duration;

use retry_runtime::macro_support::{ask, of_attempt};
use retry_runtime::{
    NextAttempt, Reason, Rejected, RejectedBy, TimedOut, Timer, TokioTimer, Verdict, show,
};
use tokio::time::timeout;

use super::ClientRetries;
use super::attempts::{ClientAttempts, in_less_than};
use super::hooks::{Hook, HookFuture, Hooks};
use crate::BoxError;
use crate::repeat::{Judged, Repeat, Unrepeatable};

/// What sends the requests of a call, one at a time.
pub(crate) trait Sender<Q>: Send {
    type Answer: Send;
    type Error: Send;

    /// Waits until a request can be sent.
    fn ready(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send;
    /// Gives back what that wait has reserved, or is in line for.
    fn give_up(&mut self);
    fn send(
        &mut self,
        request: Q,
    ) -> impl Future<Output = Result<Self::Answer, Self::Error>> + Send;
}

/// What a layer says of its requests `Q`, over a service that answers with `A` or fails with `E`.
pub(crate) trait Keys<Q, A, E>: Send + Sync {
    /// The request, with what it takes to send it again.
    type Request: Repeat<A, Answer = Self::Answer>;
    /// What calls end with.
    type Answer: Send;
    type Error: Send;
    /// Whether a first answer that no retry changes is no failed call, as a 404 by HTTP.
    const HANDS_ON: bool = true;
    /// Whether there can be hooks: a constant, so that a call without them has no room for what they need.
    const CAN_HOOK: bool;

    fn retries(&self) -> &ClientRetries;
    fn hooks(&self) -> Option<&Hooks<Q, Self::Answer, Self::Error>>;
    /// Whether a hook sees failures and requests between two attempts.
    fn run_between(&self) -> bool {
        Self::CAN_HOOK && self.hooks().is_some_and(Hooks::run_between)
    }

    fn wrap(&self, request: Q) -> Self::Request;
    fn unwrap(request: Self::Request) -> Q;
    fn request(request: &mut Self::Request) -> &mut Q;

    fn error(error: E) -> Self::Error;
    fn rejected(rejected: Rejected) -> Self::Error;
    fn timed_out(timed_out: TimedOut) -> Self::Error;
    fn verdict(&self, error: &Self::Error) -> Option<Verdict>;
    fn shown(error: &Self::Error) -> String;
}

/// Sends the request until that succeeds, or the call gives up.
///
/// A block instead of an `async fn`, which keeps its arguments twice.
#[expect(clippy::manual_async_fn, reason = "see above")]
pub(crate) fn run<Q, S, K>(
    keys: impl Deref<Target = K> + Send + Sync,
    mut sender: S,
    request: Q,
) -> impl Future<Output = Result<K::Answer, K::Error>> + Send
where
    Q: Send,
    S: Sender<Q>,
    K: Keys<Q, S::Answer, S::Error>,
{
    async move {
        let keys = &*keys;
        let retries = keys.retries();
        let (mut request, kept) = keys.wrap(request).keep(retries.recorded);
        let falls_back = keys.hooks().is_some_and(|hooks| hooks.fallback.is_some());
        let mut attempts = ClientAttempts::<K::Request, _>::new(retries, kept, falls_back);
        // What the call ends with if no other attempt may begin.
        let mut before: Option<Failed<K::Answer, K::Error>> = None;
        let gave_up = loop {
            let begun = match begin::<Q, S, K>(&mut attempts, &mut sender, retries.limit).await {
                Ok(begun) => begun,
                Err(by) => {
                    let rejected = Rejected::new(by);
                    let first = || failed_with(keys, K::rejected(rejected), Verdict::STOP);
                    break attempts.gave_up(before.unwrap_or_else(first), rejected.reason());
                }
            };
            drop(before);
            let (outcome, unsent) = match begun {
                Err(error) => {
                    sender.give_up();
                    (Err(error), Some(request))
                }
                Ok(()) => {
                    let sent = send::<Q, S, K>(&mut sender, request, attempts.kept(), retries);
                    (attempts.within(pin!(sent)).await, None)
                }
            };
            let mut failed = match judged(keys, outcome) {
                Ok(mut answer) => {
                    attempts.succeeded(&mut answer);
                    return Ok(answer);
                }
                // Nothing failed that a record would be of use for.
                Err(failed) if K::HANDS_ON && attempts.hands_on(&failed) => {
                    attempts.answered_finally();
                    return failed.outcome;
                }
                Err(failed) => failed,
            };
            let is_cancelled = retries.is_cancelled().await;
            let pause = match attempts.failed(&mut failed, unsent.is_none(), is_cancelled) {
                Ok(pause) => pause,
                Err(reason) => break attempts.ended(failed, reason),
            };
            request = match unsent.map_or_else(|| attempts.again(), Ok) {
                Ok(request) => request,
                Err(gone) => break attempts.gave_up(failed, gone),
            };
            let is_kept = attempts.may_end_after_pause() || keys.run_between();
            before = (is_kept || K::Request::DRAINS).then_some(failed);
            let between = between(keys, &mut attempts, &mut before, &mut request, pause);
            if let Err(ended) = between.await {
                if let Some(failed) = before.take() {
                    break attempts.gave_up(failed, ended);
                }
            }
            before = before.filter(|_| is_kept);
            if keys.run_between() {
                request = attempts.keep_again(request);
            }
        };
        let fallback = keys.hooks().and_then(|hooks| hooks.fallback.as_deref());
        let Some(fallback) = fallback else {
            return gave_up.outcome;
        };
        // With what it has reserved of the service, or is in line for.
        drop(sender);
        let (request, made) = (attempts.again().ok().map(K::unwrap), gave_up.attempts);
        let outcome = fallback(request, gave_up).await;
        let failed = outcome.as_ref().map(drop).map_err(K::shown);
        attempts.fell_back(made, failed.as_ref().map_err(|error| error as _).copied());
        outcome
    }
}

/// Why a call ends between a failure and the retry, and what the log shows of it.
pub(crate) struct Ended(pub(crate) Reason, pub(crate) Option<BoxError>);

impl From<Reason> for Ended {
    fn from(reason: Reason) -> Self {
        Self(reason, None)
    }
}

impl From<Unrepeatable> for Ended {
    fn from(gone: Unrepeatable) -> Self {
        Self(Reason::Unrepeatable, Some(gone.into()))
    }
}

/// The error of a hook.
impl From<BoxError> for Ended {
    fn from(error: BoxError) -> Self {
        Self(Reason::HookFailed, Some(error))
    }
}

/// What comes between a failure and the retry: the hooks, and the pause.
async fn between<Q, A, E, K: Keys<Q, A, E>>(
    keys: &K,
    attempts: &mut ClientAttempts<'_, K::Request, A>,
    failed: &mut Option<Failed<K::Answer, K::Error>>,
    request: &mut K::Request,
    pause: Duration,
) -> Result<(), Ended> {
    let next = attempts.next();
    let hook = keys.hooks().and_then(|hooks| hooks.before_pause.as_deref());
    if let Some(hook) = begin_hook(hook, K::request(request), failed, next) {
        hook.await?;
        attempts.in_time_for_pause()?;
    }
    let pause = keys.retries().unless_cancelled(TokioTimer.sleep(pause));
    let paused = match failed.as_mut().map(|failed| &mut failed.outcome) {
        Some(Ok(answer)) => K::Request::drain(answer, pause).await,
        _ => pause.await,
    };
    paused.ok_or(Reason::Cancelled)?;
    attempts.in_time_for_retry()?;
    let hook = keys.hooks().and_then(|hooks| hooks.before_retry.as_deref());
    if let Some(hook) = begin_hook(hook, K::request(request), failed, next) {
        hook.await?;
        attempts.in_time_for_retry()?;
    }
    Ok(())
}

/// Takes the failure by `&mut`, since it need not be `Sync`.
fn begin_hook<'a, Q, A, E>(
    hook: Option<&dyn Hook<Q, A, E>>,
    request: &'a mut Q,
    failed: &'a mut Option<Failed<A, E>>,
    next: NextAttempt,
) -> Option<HookFuture<'a>> {
    Some(hook?(request, failed.as_ref()?.outcome.as_ref(), next))
}

/// Begins an attempt. A rejected one is tried again as long as the policy allows.
async fn begin<Q, S: Sender<Q>, K: Keys<Q, S::Answer, S::Error>>(
    attempts: &mut ClientAttempts<'_, K::Request, S::Answer>,
    sender: &mut S,
    limit: Option<Duration>,
) -> Result<Result<(), AttemptError<K::Error>>, RejectedBy> {
    loop {
        match begin_once::<Q, S, K>(attempts, sender, limit).await {
            Err(by) => {
                sender.give_up();
                attempts.pause_after(by).await?;
            }
            begun => return begun,
        }
    }
}

/// Begins an attempt that has its turn, once the sender is ready or has failed to be.
///
/// The wait for that has the limit of an attempt, but none of its time: what would be left of it might be too little for
/// an answer to what was sent.
async fn begin_once<Q, S: Sender<Q>, K: Keys<Q, S::Answer, S::Error>>(
    attempts: &mut ClientAttempts<'_, K::Request, S::Answer>,
    sender: &mut S,
    limit: Option<Duration>,
) -> Result<Result<(), AttemptError<K::Error>>, RejectedBy> {
    attempts.wait_for_turn().await?;
    let ready = async {
        match limit {
            None => Ok(sender.ready().await),
            Some(limit) => {
                let ready = in_less_than(limit, sender.ready()).await;
                ready.ok_or(TimedOut::new(limit))
            }
        }
    };
    match attempts.in_time(ready).await? {
        Ok(ready) => {
            attempts.begin()?;
            Ok(ready.map_err(|error| AttemptError::returned(K::error(error))))
        }
        // It says nothing of the server, so neither breaker nor limiter hears of it.
        Err(timed_out) => Ok(Err(AttemptError::dropped(K::timed_out(timed_out)))),
    }
}

/// Sends the request and judges the answer, in the time of an attempt. A block, as above.
#[expect(clippy::manual_async_fn, reason = "see above")]
fn send<Q, S, K>(
    sender: &mut S,
    request: K::Request,
    kept: &<K::Request as Repeat<S::Answer>>::Kept,
    retries: &ClientRetries,
) -> impl Future<Output = Result<Judged<K::Answer>, AttemptError<K::Error>>> + Send
where
    Q: Send,
    S: Sender<Q>,
    K: Keys<Q, S::Answer, S::Error>,
{
    async move {
        let attempt = async {
            let answer = sender.send(K::unwrap(request)).await;
            let answer = answer.map_err(|error| AttemptError::returned(K::error(error)))?;
            Ok(K::Request::judge(kept, answer, retries).await)
        };
        match retries.limit {
            None => attempt.await,
            Some(limit) => match timeout(limit, attempt).await {
                Ok(outcome) => outcome,
                Err(_) => Err(AttemptError::dropped(K::timed_out(TimedOut::new(limit)))),
            },
        }
    }
}

/// The answer of an attempt that succeeded, or how it failed.
fn judged<Q, A, E, K: Keys<Q, A, E>>(
    keys: &K,
    outcome: Result<Judged<K::Answer>, AttemptError<K::Error>>,
) -> Result<K::Answer, Failed<K::Answer, K::Error>> {
    match outcome {
        Ok(judged) => match judged.verdict {
            None => Ok(judged.answer),
            Some(verdict) => Err(Failed {
                outcome: Ok(judged.answer),
                shown: judged.shown,
                verdict,
            }),
        },
        Err(AttemptError { error, is_dropped }) => {
            // `ask` marks an error of no known type, so that it counts as no answer of the server.
            let verdict = ask(|| keys.verdict(&error).unwrap_or(Verdict::STOP));
            Err(failed_with(keys, error, of_attempt(verdict, is_dropped)))
        }
    }
}

fn failed_with<Q, A, E, K: Keys<Q, A, E>>(
    _: &K,
    error: K::Error,
    verdict: Verdict,
) -> Failed<K::Answer, K::Error> {
    Failed {
        shown: K::shown(&error),
        outcome: Err(error),
        verdict,
    }
}

/// The error of an attempt.
pub(crate) struct AttemptError<E> {
    error: E,
    /// True if the `timeout` dropped the attempt, or the wait until the service was ready.
    is_dropped: bool,
}

impl<E> AttemptError<E> {
    fn returned(error: E) -> Self {
        let is_dropped = false;
        Self { error, is_dropped }
    }

    fn dropped(error: E) -> Self {
        let is_dropped = true;
        Self { error, is_dropped }
    }
}

/// How an attempt failed.
pub(crate) struct Failed<A, E> {
    pub(crate) outcome: Result<A, E>,
    pub(crate) shown: String,
    pub(crate) verdict: Verdict,
}

impl<A, E> Failed<A, E> {
    /// Whether it is an answer, and one that no retry changes.
    pub(crate) fn is_answer(&self) -> bool {
        self.outcome.is_ok() && self.verdict == Verdict::STOP
    }

    /// Says why no attempt can follow, too.
    pub(crate) fn show(&mut self, why: impl fmt::Display) {
        self.shown = format!("{}; {why}", self.shown);
    }
}

/// An error with what caused it.
pub(crate) struct Shown<'a>(pub(crate) &'a (dyn Error + 'static));

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show::with_causes(&self.0, f)
    }
}
