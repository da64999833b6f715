//! The loop of a blocking call.

use crate::call::attempted;
use crate::call::failure::is_paid;
use crate::call::state::Call;
use crate::call::{decide, late};
use crate::chain::breaker::{Admitted, Rejects};
use crate::chain::budget::MayPay;
use crate::chain::fallback::FallsBackBlocking;
use crate::chain::history::History;
use crate::chain::key::Unnamed;
use crate::chain::limiter::{InLine, RejectsToo};
use crate::chain::name::MayName;
use crate::chain::named::OfCall;
use crate::chain::observer::MayObserve;
use crate::chain::on_error::{Described, OnError};
use crate::chain::operation::Attempts;
use crate::chain::span::MayOpenSpans;
use crate::chain::told::{Told, fell_back, succeeded, turned};
use crate::chain::until::MayReject;
use crate::classify::kind::Kind;
use crate::classify::rejected::RejectedBy;
use crate::observe::ignored_timeout;
use crate::observe::reason::Reason;
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::Cancel;

/// Calls until it succeeds or gives up.
#[expect(
    clippy::too_many_lines,
    reason = "as the loop of an async call, which can't be parted"
)]
pub(super) fn run_blocking<On, C, W, N, B, R, O, M, S, U, F, H, Op, T, E>(
    policy: &Policy,
    mut chain: OfCall<On, C, W, N, B, R, O, M, S, U, Unnamed, F>,
    mut operation: Op,
) -> Result<T, E>
where
    On: OnError<E>,
    C: Cancel,
    W: BlockingTimer,
    N: MayName,
    B: MayPay,
    R: Rejects<E>,
    M: RejectsToo<E>,
    O: MayObserve,
    S: MayOpenSpans,
    U: MayReject<T>,
    F: FallsBackBlocking<T, E, H>,
    H: History<E>,
    Op: Attempts<H, Result<T, E>>,
{
    if policy.attempt_limit().is_some() {
        ignored_timeout::tell(chain.keys.name.name(Op::place));
    }
    let time_limit = policy.time_limit();
    let deadline = time_limit.and_then(|limit| chain.timer.now().checked_add(limit));
    let mut call = Call::new();
    let mut history = H::before_first(|| chain.timer.clock());
    macro_rules! told {
        () => {
            Told {
                policy,
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
            // What the attempt before has left: its outcome, and what was paid for the one that follows.
            let mut kept = None;
            let mut paid = B::Paid::default();
            'attempts: loop {
                let by = 'rejected: {
                    // The breaker is asked before the queue, and passed after it.
                    if M::IS_NAMED && chain.keys.breaker.is_open() {
                        break 'rejected RejectedBy::Breaker;
                    }
                    let mut place = InLine::new(&chain.keys.limiter);
                    let name = || chain.keys.name.name(Op::place);
                    if !place.has_turn()
                        && call.waits_in(name(), &mut place, chain.keys.observer.observe())
                    {
                        match place.wait_blocking(&chain.timer, deadline, &chain.cancel) {
                            Ok(waited) => {
                                call.waited(name(), waited, chain.keys.observer.observe());
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
                    history.begin(|| limit(policy.max_retries()));
                    if let Some(observe) = chain.keys.observer.observe() {
                        call.started(chain.keys.name.name(Op::place), observe);
                    }
                    let outcome = attempted::run!(
                        {
                            let span = chain.keys.span.of_attempt(call.attempt());
                            let _entered = S::enter(&span);
                            operation.begin(&history)
                        },
                        chain.keys.name.outer(policy, Op::place)
                    );
                    let (pause, kind) = match outcome {
                        Ok(value) => {
                            if let Some(transition) = admitted.succeeded() {
                                let name = chain.keys.name.name(Op::place);
                                turned(&call, name, transition, chain.keys.observer.observe());
                            }
                            if let Some(changes) = place.succeeded() {
                                let name = chain.keys.name.name(Op::place);
                                call.limiter_changed(name, changes, chain.keys.observer.observe());
                            }
                            if chain.alone.until.accepts(&value) {
                                let name = || chain.keys.name.name(Op::place);
                                succeeded(&call, policy, name, chain.keys.observer.observe());
                                chain.keys.budget.credit(&call);
                                return Ok(value);
                            }
                            let is_cancelled = chain.cancel.is_cancelled();
                            let Some(pause) = told!().rejected_value(&mut call, is_cancelled)
                            else {
                                return Ok(value);
                            };
                            history.rejected();
                            kept = Some(Ok(value));
                            (pause, Some(Kind::Transient))
                        }
                        Err(error) => {
                            let verdict = decide::verdict(policy, || chain.on.verdict(&error));
                            history.judged(verdict);
                            let shown = Described {
                                on: &chain.on,
                                error: &error,
                            };
                            let (permit, place) = (admitted.recorder(), place.left());
                            let is_cancelled = chain.cancel.is_cancelled();
                            match told!().failed(
                                &mut call,
                                verdict,
                                &shown,
                                permit,
                                place,
                                is_cancelled,
                            ) {
                                Ok(pause) => {
                                    kept = Some(Err(history.failed(error, pause)));
                                    (pause, verdict.kind())
                                }
                                Err(reason) => break 'failed (error, reason),
                            }
                        }
                    };
                    let kind = kind.filter(|kind| is_paid(*kind, M::IS_NAMED));
                    paid = chain.keys.budget.paid(kind);
                    let ended = if chain.timer.sleep_or_cancelled(pause, &chain.cancel) {
                        Some(Reason::Cancelled)
                    } else {
                        late::late(deadline, pause, || chain.timer.now())
                    };
                    let Some(reason) = ended else {
                        history.tick(|| chain.timer.clock());
                        continue 'attempts;
                    };
                    let Some(kept) = kept_of(kept, &mut history) else {
                        unreachable!("what is not kept is in the history");
                    };
                    break 'ended (kept, reason);
                };
                let kept = if call.is_retried() {
                    kept_of(kept, &mut history)
                } else {
                    call = call.under(policy.max_retries());
                    R::rejected(by).or_else(|| M::rejected(by)).map(Err)
                };
                let Some(kept) = kept else {
                    unreachable!("what rejects calls has an error for them");
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
    if !F::IS_NAMED {
        return chain.alone.fallback.fall(&mut history, error, reason);
    }
    history.tick(|| chain.timer.clock());
    let attempts = history.attempts();
    let outcome = chain.alone.fallback.fall(&mut history, error, reason);
    let name = chain.keys.name.name(Op::place);
    let observe = chain.keys.observer.observe();
    fell_back(&call, name, attempts, &chain.on, &outcome, observe);
    outcome
}

/// What a call ends with after a pause.
fn kept_of<T, E>(
    kept: Option<Result<T, Option<E>>>,
    history: &mut impl History<E>,
) -> Option<Result<T, E>> {
    match kept? {
        Ok(value) => Some(Ok(value)),
        Err(error) => error.or_else(|| history.take_last_error()).map(Err),
    }
}
