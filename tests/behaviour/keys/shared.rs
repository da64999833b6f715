//! Shared protections with many concurrent calls that end or are dropped at any point.

use std::future::Future;

use proptest::prelude::*;
use support::prelude::*;
use support::runtime;

/// A breaker that counts who is within.
struct Counted {
    breaker: Breaker,
    within: Cell<u32>,
    most: u32,
}

impl AdmissionControl for Counted {
    fn enter(&self, cost: u32) -> Permit {
        self.breaker.enter(cost)
    }

    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        let admission = self.breaker.poll(permit, waker);
        if admission == Admission::Admitted {
            self.within.set(self.within.get() + 1);
            assert!(self.within.get() <= self.most);
        }
        admission
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        if outcome != AttemptOutcome::NotBegun {
            self.within.set(self.within.get() - 1);
        }
        self.breaker.leave(permit, outcome)
    }
}

/// The history of a call: the failure of each attempt, and the outcome of the last one.
#[derive(Default)]
struct Caller {
    attempts: RefCell<Vec<Failure>>,
    answered: Cell<bool>,
}

impl Caller {
    /// Fails according to the script, and then succeeds.
    async fn attempt(&self, script: &[Failure]) -> Result<(), Failure> {
        let attempt = self.attempts.borrow().len();
        let failure = script.get(attempt).cloned();
        self.attempts
            .borrow_mut()
            .push(failure.clone().unwrap_or(STOP));
        yield_now().await;
        failure.map_or(Ok(()), Err)
    }
}

struct Shared {
    budget: Budget,
    breaker: Counted,
    limiter: ConcurrencyLimiter,
}

scripted! {
    #[retry(policy = POLICY, budget = &shared.budget, breaker = &shared.breaker, timeout = "10s")]
    async fn call(shared: &Shared, script: &[Failure], caller: &Caller) = caller.attempt(script).await;
    #[retry(policy = POLICY, budget = &shared.budget, breaker = &shared.breaker, limiter = &shared.limiter,
        timeout = "10s")]
    async fn limited(shared: &Shared, script: &[Failure], caller: &Caller) = caller.attempt(script).await;
}

const POLICY: Policy = Policy::fixed(secs(1)).max(4);

/// Returns the cost of a retry, if any: a limiter handles throttled ones.
fn cost(failure: &Failure, is_limited: bool) -> Option<f64> {
    match failure {
        failure if *failure != THROTTLED => Some(14.0),
        _ if is_limited => None,
        _ => Some(5.0),
    }
}

type Running<'a> = (
    usize,
    Pin<Box<dyn Future<Output = Result<(), Failure>> + 'a>>,
);

proptest! {
    /// For any order of execution and any point of being dropped, tokens and the slots of the breaker and the limiter
    /// are neither created nor lost.
    #[test]
    fn tokens_and_slots_are_neither_lost_nor_created(
        scripts in proptest::collection::vec(proptest::collection::vec(0_usize..4, 0..6), 1..12),
        steps in proptest::collection::vec((0_u8..8, 0_usize..16), 0..200),
        consecutive in 0_u32..4,
        is_limited: bool,
    ) {
        runtime::paused().block_on(async {
            let scripts: Vec<Vec<Failure>> = scripts
                .into_iter()
                .map(|script| script.into_iter().map(|step| [TRANSIENT, THROTTLED, TIMEOUT, STOP][step].clone()).collect())
                .collect();
            let callers: Vec<_> = scripts.iter().map(|_| Caller::default()).collect();
            // Neither full nor empty, so that each token shows.
            let shared = Shared {
                budget: Budget::standard().capacity(10_000),
                breaker: Counted {
                    breaker: Breaker::new().consecutive_failures(consecutive).trial_calls(2),
                    within: Cell::new(0),
                    most: if is_limited { 2 } else { 12 },
                },
                limiter: ConcurrencyLimiter::aimd().start(2).most(2),
            };
            let Shared { budget, breaker, limiter } = &shared;
            for _ in 0..300 {
                prop_assert!(budget.withdraw(Kind::Transient));
            }
            let before = budget.available();
            let mut running: Vec<Running<'_>> = (0..scripts.len())
                .map(|number| {
                    let (script, caller) = (&scripts[number], &callers[number]);
                    let future: Pin<Box<dyn Future<Output = _>>> = if is_limited {
                        Box::pin(limited(&shared, script, caller))
                    } else {
                        Box::pin(call(&shared, script, caller))
                    };
                    (number, future)
                })
                .collect();
            let mut context = Context::from_waker(Waker::noop());
            for (step, which) in steps {
                if running.is_empty() {
                    break;
                }
                let which = which % running.len();
                match step {
                    0 => drop(running.swap_remove(which)),
                    1 => advance(millis(500)).await,
                    2 => advance(secs(5)).await,
                    _ => {
                        let (number, future) = &mut running[which];
                        if let Poll::Ready(outcome) = future.as_mut().poll(&mut context) {
                            let caller = &callers[*number];
                            // A rejected call ends with the same error as a final response, but without an attempt.
                            let last = caller.attempts.borrow().len().checked_sub(1);
                            let scripted = last.and_then(|last| scripts[*number].get(last));
                            caller.answered.set(outcome.is_ok() || scripted == Some(&STOP));
                            drop(running.swap_remove(which));
                        }
                    }
                }
            }
            drop(running);
            let mut expected = before;
            for caller in &callers {
                let attempts = caller.attempts.borrow();
                // All attempts except the last were retried.
                let retried = &attempts[..attempts.len().saturating_sub(1)];
                let cost = |failure| cost(failure, is_limited);
                expected -= retried.iter().filter_map(cost).sum::<f64>();
                if caller.answered.get() {
                    expected += retried.last().and_then(cost).unwrap_or(1.0);
                }
            }
            prop_assert!((budget.available() - expected).abs() < 1e-6, "{budget} and not {expected}");
            prop_assert_eq!(breaker.within.get(), 0);
            prop_assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
            // No slot is taken in any state: the breaker closes after as many successes as there are trial calls.
            advance(secs(5)).await;
            for _ in 0..2 {
                let pass = breaker.admit();
                prop_assert!(pass.is_some());
                breaker.record(pass.unwrap(), AttemptOutcome::Success);
            }
            prop_assert_eq!(breaker.breaker.state(), BreakerState::Closed);
            Ok(())
        })?;
    }
}
