//! The loop of an async call.

use core::borrow::Borrow;
use core::future::Future;
use core::mem;
use core::pin::{Pin, pin};

use crate::call::attempted;
use crate::call::failure::is_paid;
use crate::call::state::Call;
use crate::call::{decide, late};
use crate::chain::breaker::{Admitted, MayAdmit, Rejects};
use crate::chain::budget::MayPay;
use crate::chain::fallback::FallsBack;
use crate::chain::history::History;
use crate::chain::limiter::{InLine, MayWait, RejectsToo};
use crate::chain::name::MayName;
use crate::chain::named::OfCall;
use crate::chain::observer::MayObserve;
use crate::chain::on_error::{Described, OnError};
use crate::chain::operation::Attempts;
use crate::chain::span::MayOpenSpans;
use crate::chain::timeout::TimesOut;
use crate::chain::told::{Told, fell_back, succeeded, turned};
use crate::chain::until::MayReject;
use crate::classify::kind::Kind;
use crate::classify::rejected::RejectedBy;
use crate::observe::ignored_timeout;
use crate::observe::reason::Reason;
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::time::cancel::{MayCancel, pause_or_cancelled};
use crate::time::timer::Timer;

/// Calls until it succeeds or gives up.
///
/// One future around the operation's: each of several nested ones would hold the policy and the closures again. A block
/// instead of an `async fn`, which keeps its arguments twice.
#[expect(clippy::manual_async_fn, reason = "see above")]
#[expect(
    clippy::too_many_lines,
    reason = "what an await point is in can't be parted"
)]
pub(super) fn run<P, On, C, W, N, B, R, O, M, S, U, L, F, H, Op, Fut, Fallen, T, E>(
    policy: P,
    mut chain: OfCall<On, C, W, N, B, R, O, M, S, U, L, F>,
    mut operation: Op,
) -> impl Future<Output = Result<T, E>>
where
    P: Borrow<Policy>,
    On: OnError<E>,
    C: MayCancel,
    W: Timer,
    N: MayName,
    B: MayPay,
    R: Rejects<E>,
    M: RejectsToo<E>,
    O: MayObserve,
    S: MayOpenSpans,
    U: MayReject<T>,
    L: TimesOut<E>,
    F: FallsBack<T, E, H, Fallen>,
    H: History<E>,
    Op: Attempts<H, Fut>,
    Fut: Future<Output = Result<T, E>>,
    Fallen: Future<Output = Result<T, E>>,
{
    async move {
        // First of all, or a flag would be kept of what was moved.
        let cancelled = pin!(chain.cancel.into_cancelled());
        let mut cancelled = C::signal(cancelled);
        let mut fallback = Some(chain.alone.fallback);
        chain.timer.expect(|| chain.keys.name.name(Op::place));
        if !L::IS_NAMED && policy.borrow().attempt_limit().is_some() {
            ignored_timeout::tell(chain.keys.name.name(Op::place));
        }
        let deadline = policy
            .borrow()
            .time_limit()
            .and_then(|limit| chain.timer.now().checked_add(limit));
        let mut call = Call::new();
        let mut history = H::before_first(|| chain.timer.clock());
        macro_rules! told {
            () => {
                Told {
                    policy: policy.borrow(),
                    name: chain.keys.name.name(Op::place),
                    deadline: deadline.map(|end| (end, chain.timer.now())),
                    idempotent: chain.keys.idempotent,
                    falls_back: F::IS_NAMED,
                    budget: chain.keys.budget.payer(),
                    observe: chain.keys.observer.observe(),
                }
            };
        }
        let (error, reason) = 'failed: {
            let (outcome, reason) = 'ended: {
                // What the attempt before has left: its outcome, where it is kept, and what was paid for the one that
                // follows.
                let mut kept = M::keep::<R, C, _>(None);
                let mut paid = B::Paid::default();
                'attempts: loop {
                    let by = 'rejected: {
                        // The error's life ends before the pause, so that it need not be `Send`.
                        let (pause, kind) = {
                            // The breaker is asked before the queue, and passed after it.
                            if M::IS_NAMED && chain.keys.breaker.is_open() {
                                break 'rejected RejectedBy::Breaker;
                            }
                            let mut place = InLine::new(&chain.keys.limiter);
                            if !place.has_turn()
                                && call.waits_in(
                                    chain.keys.name.name(Op::place),
                                    &mut place,
                                    chain.keys.observer.observe(),
                                )
                            {
                                let cancelled = Pin::new(&mut cancelled);
                                let wait = M::wait(&mut place, &chain.timer, deadline, cancelled);
                                match wait.await {
                                    Ok(waited) => {
                                        let name = chain.keys.name.name(Op::place);
                                        call.waited(name, waited, chain.keys.observer.observe());
                                    }
                                    Err(by) => break 'rejected by,
                                }
                            }
                            let Some(mut admitted) = Admitted::by(&chain.keys.breaker) else {
                                place.give_back();
                                break 'rejected RejectedBy::Breaker;
                            };
                            B::spend(&mut paid);
                            if let Some(transition) = admitted.transition() {
                                let name = chain.keys.name.name(Op::place);
                                turned(&call, name, transition, chain.keys.observer.observe());
                            }
                            history.begin(|| limit(policy.borrow().max_retries()));
                            if let Some(observe) = chain.keys.observer.observe() {
                                call.started(chain.keys.name.name(Op::place), observe);
                            }
                            let limit = L::limit(policy.borrow());
                            let raced = {
                                let span = chain.keys.span.of_attempt(call.attempt());
                                let (operation, history) = (&mut operation, &history);
                                // Moved in, so that an unnamed span takes no room.
                                let mut begin =
                                    move || S::within(span.clone(), || operation.begin(history));
                                let attempt = pin!(L::begin_beside(&mut begin));
                                let sleep = pin!(L::sleep(&chain.timer, limit));
                                attempted::awaited!(
                                    C::attempt(L::race(&mut begin, attempt, sleep)),
                                    chain.keys.name.outer(policy.borrow(), Op::place)
                                )
                            };
                            let (raced, waker) = C::attempted(raced);
                            let (outcome, dropped) = L::outcome(raced, limit);
                            match outcome {
                                Ok(value) => {
                                    if let Some(transition) = admitted.succeeded() {
                                        let name = chain.keys.name.name(Op::place);
                                        let observe = chain.keys.observer.observe();
                                        turned(&call, name, transition, observe);
                                    }
                                    if let Some(changes) = place.succeeded() {
                                        let name = chain.keys.name.name(Op::place);
                                        let observe = chain.keys.observer.observe();
                                        call.limiter_changed(name, changes, observe);
                                    }
                                    if chain.alone.until.accepts(&value) {
                                        let name = || chain.keys.name.name(Op::place);
                                        let observe = chain.keys.observer.observe();
                                        succeeded(&call, policy.borrow(), name, observe);
                                        chain.keys.budget.credit(&call);
                                        return Ok(value);
                                    }
                                    let is_cancelled = C::is_cancelled(&mut cancelled, &waker);
                                    let Some(pause) =
                                        told!().rejected_value(&mut call, is_cancelled)
                                    else {
                                        return Ok(value);
                                    };
                                    history.rejected();
                                    kept = M::keep::<R, C, _>(Some(Ok(value)));
                                    (pause, Some(Kind::Transient))
                                }
                                Err(error) => {
                                    let verdict = decide::verdict(policy.borrow(), || {
                                        let verdict = chain.on.verdict(&error);
                                        if dropped {
                                            verdict.of_dropped_attempt()
                                        } else {
                                            verdict
                                        }
                                    });
                                    history.judged(verdict);
                                    let is_cancelled = C::is_cancelled(&mut cancelled, &waker);
                                    let shown = Described {
                                        on: &chain.on,
                                        error: &error,
                                    };
                                    let permit = admitted.recorder();
                                    let place = place.left();
                                    match told!().failed(
                                        &mut call,
                                        verdict,
                                        &shown,
                                        permit,
                                        place,
                                        is_cancelled,
                                    ) {
                                        Ok(pause) => {
                                            let error = history.failed(error, pause);
                                            kept = M::keep::<R, C, _>(Some(Err(error)));
                                            (pause, verdict.kind())
                                        }
                                        Err(reason) => break 'failed (error, reason),
                                    }
                                }
                            }
                        };
                        let kind = kind.filter(|kind| is_paid(*kind, M::IS_NAMED));
                        paid = chain.keys.budget.paid(kind);
                        let is_cancelled = {
                            let sleep = pin!(chain.timer.sleep(pause));
                            pause_or_cancelled(Pin::new(&mut cancelled), sleep).await
                        };
                        let ended = if is_cancelled {
                            Some(Reason::Cancelled)
                        } else {
                            late::late(deadline, pause, || chain.timer.now())
                        };
                        // If no key keeps the error over a pause, there is nothing to end with but another attempt.
                        let ended = ended.and_then(|reason| {
                            let kept = kept_of::<C, R, M, H, T, E>(&mut kept, &mut history)?;
                            Some((kept, reason))
                        });
                        if let Some(ended) = ended {
                            break 'ended ended;
                        }
                        history.tick(|| chain.timer.clock());
                        continue 'attempts;
                    };
                    let kept = if call.is_retried() {
                        kept_of::<C, R, M, H, T, E>(&mut kept, &mut history)
                    } else {
                        call = call.under(policy.borrow().max_retries());
                        R::rejected(by).or_else(|| M::rejected(by)).map(Err)
                    };
                    let Some(kept) = kept else {
                        unreachable!("what rejects calls keeps what they end with");
                    };
                    break 'ended (kept, by.reason());
                }
            };
            told!().ended(&call, &chain.on, &outcome, reason);
            match outcome {
                Ok(value) => return Ok(value),
                Err(error) => (error, reason),
            }
        };
        history.tick(|| chain.timer.clock());
        let attempts = history.attempts();
        // Its error's life ends here, too.
        let fallen = match fallback.take() {
            Some(fallback) => match fallback.fall(&mut history, error, reason) {
                Err(error) => return Err(error),
                Ok(fallen) => fallen,
            },
            None => return Err(error),
        };
        let outcome = fallen.await;
        let name = chain.keys.name.name(Op::place);
        let observe = chain.keys.observer.observe();
        fell_back(&call, name, attempts, &chain.on, &outcome, observe);
        outcome
    }
}

/// Of an attempt; an error may be in the history instead.
type Outcome<T, E> = Result<T, Option<E>>;

/// What a call ends with after a pause.
fn kept_of<C, R, M, H, T, E>(
    kept: &mut M::Kept<R, C, Option<Outcome<T, E>>>,
    history: &mut H,
) -> Option<Result<T, E>>
where
    C: MayCancel,
    R: MayAdmit,
    M: MayWait,
    H: History<E>,
{
    let kept = mem::replace(kept, M::keep::<R, C, _>(None));
    match M::into_kept::<R, C, _>(kept).flatten() {
        Some(Ok(value)) => Some(Ok(value)),
        Some(Err(Some(error))) => Some(Err(error)),
        Some(Err(None)) | None => history.take_last_error().map(Err),
    }
}
