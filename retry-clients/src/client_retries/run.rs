//! The loop of a call, whatever sends its requests.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::ops::Deref;

use retry_runtime::{Reason, Rejected, TimedOut, Timer, TokioTimer, Verdict, show};
use tokio::time::timeout;

use super::attempts::{ClientAttempts, in_less_than};
use super::{ClientRetries, Repeats};
use crate::repeat::{Judged, Repeat};

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
    fn rejected(rejected: Rejected) -> Self::Error;
    fn timed_out(timed_out: TimedOut) -> Self::Error;
    fn as_error(error: &Self::Error) -> &(dyn Error + 'static);
}

/// Sends the request until that succeeds, or the call gives up.
///
/// A block instead of an `async fn`, which keeps its arguments twice.
#[expect(clippy::manual_async_fn, reason = "see above")]
pub(crate) fn run<Q, S>(
    retries: impl Deref<Target = ClientRetries> + Send + Sync,
    mut sender: S,
    request: Q,
) -> impl Future<Output = Result<Q::Answer, S::Error>> + Send
where
    Q: Repeat<S::Answer>,
    S: Sender<Q>,
{
    async move {
        let retries = &*retries;
        let (mut request, kept) = request.keep(retries.recorded);
        let name = || match &retries.name {
            Some(name) => Cow::Borrowed(&**name),
            None => Q::name(&kept),
        };
        let idempotent = match retries.repeats {
            Repeats::All => true,
            Repeats::OfIdempotentMethods => Q::is_idempotent(&kept),
            Repeats::None => false,
        };
        let mut attempts = ClientAttempts::new(retries, name, idempotent);
        // What the call ends with if no other attempt may begin.
        let mut before: Option<Failed<Q::Answer, S::Error>> = None;
        loop {
            let begun = match begin::<Q, S, _>(&mut attempts, &mut sender).await {
                Ok(begun) => begun,
                Err(rejected) => {
                    let failed = before.unwrap_or_else(|| {
                        Failed::with::<Q, S>(S::rejected(rejected), Verdict::STOP)
                    });
                    attempts.gave_up(&failed.shown, rejected.reason());
                    return failed.outcome;
                }
            };
            drop(before);
            let (outcome, unsent) = match begun {
                Err(error) => {
                    sender.give_up();
                    (Err(error), Some(request))
                }
                Ok(()) => (send(&mut sender, request, &kept, retries).await, None),
            };
            let mut failed = match judged::<Q, S>(retries, outcome) {
                Ok(answer) => {
                    attempts.succeeded();
                    return Ok(answer);
                }
                // Nothing failed that a record would be of use for.
                Err(failed) if failed.is_answer() && attempts.number() == 1 => {
                    attempts.answered_finally();
                    return failed.outcome;
                }
                Err(failed) => failed,
            };
            let is_sent = unsent.is_none();
            let may_follow = is_sent && failed.verdict.is_retryable();
            let gone = may_follow.then(|| Q::repeatable(&kept).err()).flatten();
            if let Some(gone) = &gone {
                failed.shown = format!("{}; {gone}", failed.shown);
            }
            let Ok(pause) = attempts.failed(failed.verdict, &failed.shown, is_sent, gone.is_some())
            else {
                return failed.outcome;
            };
            request = match unsent.map_or_else(|| Q::again(&kept, attempts.sent()), Ok) {
                Ok(request) => request,
                Err(gone) => {
                    let shown = format!("{}; {gone}", failed.shown);
                    attempts.gave_up(&shown, Reason::Unrepeatable);
                    return failed.outcome;
                }
            };
            before = attempts.may_end_after_pause().then_some(failed);
            let slept = retries.unless_cancelled(TokioTimer.sleep(pause)).await;
            let reason = match slept {
                None => Some(Reason::Cancelled),
                Some(()) => attempts.late(),
            };
            if let Some(reason) = reason {
                if let Some(failed) = before.take() {
                    attempts.gave_up(&failed.shown, reason);
                    return failed.outcome;
                }
            }
        }
    }
}

/// Begins an attempt that has its turn, once the sender is ready or has failed to be.
///
/// The wait for that has the limit of an attempt, but none of its time: what would be left of it might be too little for
/// an answer to what was sent.
async fn begin<'a, Q, S: Sender<Q>, N: Fn() -> Cow<'a, str>>(
    attempts: &mut ClientAttempts<'a, N>,
    sender: &mut S,
) -> Result<Result<(), S::Error>, Rejected> {
    attempts.wait_for_turn().await?;
    let limit = attempts.limit();
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
            Ok(ready)
        }
        // It says nothing of the server, so neither breaker nor limiter hears of it.
        Err(timed_out) => Ok(Err(S::timed_out(timed_out))),
    }
}

/// Sends the request and judges the answer, in the time of an attempt. A block, as above.
#[expect(clippy::manual_async_fn, reason = "see above")]
fn send<Q, S>(
    sender: &mut S,
    request: Q,
    kept: &Q::Kept,
    retries: &ClientRetries,
) -> impl Future<Output = Result<Judged<Q::Answer>, S::Error>> + Send
where
    Q: Repeat<S::Answer>,
    S: Sender<Q>,
{
    async move {
        let attempt = async {
            let answer = sender.send(request).await?;
            Ok(Q::judge(kept, answer, retries).await)
        };
        match retries.policy.attempt_limit() {
            None => attempt.await,
            Some(limit) => match timeout(limit, attempt).await {
                Ok(outcome) => outcome,
                Err(_) => Err(S::timed_out(TimedOut::new(limit))),
            },
        }
    }
}

/// The answer of an attempt that succeeded, or how it failed.
fn judged<Q: Repeat<S::Answer>, S: Sender<Q>>(
    retries: &ClientRetries,
    outcome: Result<Judged<Q::Answer>, S::Error>,
) -> Result<Q::Answer, Failed<Q::Answer, S::Error>> {
    match outcome {
        Ok(judged) => match judged.verdict {
            None => Ok(judged.answer),
            Some(verdict) => Err(Failed {
                outcome: Ok(judged.answer),
                shown: judged.shown,
                verdict,
            }),
        },
        Err(error) => {
            let verdict = retries.judge(Err(S::as_error(&error)));
            Err(Failed::with::<Q, S>(
                error,
                verdict.unwrap_or(Verdict::STOP),
            ))
        }
    }
}

/// How an attempt failed.
struct Failed<A, E> {
    outcome: Result<A, E>,
    shown: String,
    verdict: Verdict,
}

impl<A, E> Failed<A, E> {
    /// Whether it is an answer, and one that no retry changes.
    fn is_answer(&self) -> bool {
        self.outcome.is_ok() && self.verdict == Verdict::STOP
    }

    fn with<Q, S: Sender<Q, Error = E>>(error: E, verdict: Verdict) -> Self {
        Self {
            shown: Shown(S::as_error(&error)).to_string(),
            outcome: Err(error),
            verdict,
        }
    }
}

/// An error with what caused it.
pub(crate) struct Shown<'a>(pub(crate) &'a (dyn Error + 'static));

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show::with_causes(&self.0, f)
    }
}
