use std::rc::Rc;
use std::sync::Arc;

use retry_protections::{Breaker, ConcurrencyLimiter};
use retry_runtime::seam::RetryBudget;
use retry_runtime::{Kind, Reason, Verdict, retry, testing};
use support::failure::{Failure, STOP, THROTTLED, TRANSIENT};
use support::turns::Turns;
use tokio::time::{sleep, timeout};

use crate::keys::{Script, millis, secs};

#[retry(max = 5, jitter = "none", name = "step", budget = turns)]
async fn step(script: &mut Script, turns: &Turns) -> Result<usize, Failure> {
    script.next()
}

#[tokio::test(start_paused = true)]
async fn retries_are_paid_for_and_shared() {
    let turns = Turns::new(4);
    let mut script = Script::new([TRANSIENT, THROTTLED, TRANSIENT]);
    assert_eq!(step(&mut script, &turns).await, Ok(4));
    assert_eq!(turns.left(), 1);

    let recording = testing::record();
    let mut script = Script::new(vec![TRANSIENT; 9]);
    assert_eq!(step(&mut script, &turns).await, Err(TRANSIENT));
    assert_eq!((script.attempts, turns.left()), (2, 0));
    let last = recording.lines().pop().unwrap();
    assert_eq!(
        last,
        "gave up step attempt=2 max=5 error=transient reason=budget"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_without_retries_costs_nothing() {
    let turns = Turns::new(9);
    step(&mut Script::new([]), &turns).await.unwrap();
    step(&mut Script::new([STOP]), &turns).await.unwrap_err();
    assert_eq!(turns.left(), 9);
    // Neither does the failure that is one too many.
    let mut script = Script::new(vec![TRANSIENT; 9]);
    step(&mut script, &turns).await.unwrap_err();
    assert_eq!((script.attempts, turns.left()), (6, 4));
}

#[tokio::test(start_paused = true)]
async fn a_correction_that_is_dropped_in_its_pause_is_refunded_and_one_that_began_is_not() {
    #[retry(
        invalid(max = 9, backoff = "fixed", base = "5s", jitter = "none"),
        budget = turns,
        validate = |_| Err(TRANSIENT),
        correct = async |number, _| { sleep(secs(10)).await; Ok(number) }
    )]
    async fn call(turns: &Turns) -> Result<u32, Failure> {
        Ok(1)
    }

    // Pauses from 0 and 15 s on, corrections from 5 and 20 s on.
    for (dropped, left) in [(3, 9), (7, 8), (17, 8), (22, 7)] {
        let turns = Turns::new(9);
        timeout(secs(dropped), call(&turns)).await.unwrap_err();
        assert_eq!(turns.left(), left, "dropped after {dropped} s");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unused_payment_is_refunded_before_the_fallback() {
    #[retry(
        jitter = "none",
        budget = turns,
        cancel = sleep(millis(500)),
        fallback = async |_| Ok(turns.left()),
    )]
    async fn cancelled(turns: &Turns) -> Result<u32, Failure> {
        Err(TRANSIENT)
    }
    #[retry(
        jitter = "none",
        budget = turns,
        breaker = breaker,
        fallback = async |_| Ok(turns.left()),
    )]
    async fn open(turns: &Turns, breaker: &Breaker) -> Result<u32, Failure> {
        Err(TRANSIENT)
    }
    #[retry(jitter = "none", budget = turns, breaker = breaker, fallback = |_| Ok(turns.left()))]
    fn blocking(turns: &Turns, breaker: &Breaker) -> Result<u32, Failure> {
        Err(TRANSIENT)
    }
    #[retry(
        jitter = "none",
        budget = turns,
        breaker = breaker,
        limiter = limiter,
        cancel = sleep(millis(500)),
        fallback = async |_| Ok(turns.left()),
    )]
    async fn gated(
        turns: &Turns,
        breaker: &Breaker,
        limiter: &ConcurrencyLimiter,
    ) -> Result<u32, Failure> {
        Err(TRANSIENT)
    }
    #[retry(
        invalid(base = "1s", jitter = "none"),
        budget = turns,
        cancel = sleep(millis(500)),
        validate = |_| Err(TRANSIENT),
        correct = async |number, _| Ok(number),
        fallback = async |_| Ok(turns.left()),
    )]
    async fn corrected(turns: &Turns) -> Result<u32, Failure> {
        Ok(0)
    }

    let turns = Turns::new(9);
    let (opens, stays) = (|| Breaker::new().consecutive_failures(1), Breaker::new());
    let limiter = ConcurrencyLimiter::aimd();
    assert_eq!(cancelled(&turns).await, Ok(9), "cancelled");
    assert_eq!(open(&turns, &opens()).await, Ok(9), "open");
    assert_eq!(blocking(&turns, &opens()), Ok(9), "blocking");
    assert_eq!(gated(&turns, &stays, &limiter).await, Ok(9), "gated");
    assert_eq!(
        gated(&turns, &opens(), &limiter).await,
        Ok(9),
        "behind both"
    );
    assert_eq!(corrected(&turns).await, Ok(9), "corrected");
}

#[test]
fn any_expression_will_do() {
    struct Agent {
        team: Arc<Turns>,
        own: Turns,
    }

    impl Agent {
        #[retry(max = 5, backoff = "none", budget = &self.own)]
        fn own(&mut self) -> Result<(), Failure> {
            Err(TRANSIENT)
        }

        #[retry(max = 5, backoff = "none", budget = self.team.clone())]
        fn team(&mut self) -> Result<(), Failure> {
            Err(TRANSIENT)
        }
    }

    #[retry(max = 5, backoff = "none", budget = &*turns)]
    fn dynamic(turns: Rc<dyn RetryBudget>) -> Result<(), Failure> {
        Err(TRANSIENT)
    }

    #[retry(max = 5, backoff = "none", budget = Turns::new(2))]
    fn of_one_call(attempts: &mut u32) -> Result<(), Failure> {
        *attempts += 1;
        Err(TRANSIENT)
    }

    let mut agent = Agent {
        team: Arc::new(Turns::new(3)),
        own: Turns::new(2),
    };
    agent.own().unwrap_err();
    agent.team().unwrap_err();
    assert_eq!((agent.own.left(), agent.team.left()), (0, 0));
    let turns = Rc::new(Turns::new(2));
    dynamic(turns.clone()).unwrap_err();
    assert_eq!(turns.left(), 0);
    // A budget that is created for each call limits that call alone.
    let mut attempts = 0;
    of_one_call(&mut attempts).unwrap_err();
    assert_eq!(attempts, 3);
}

/// Remembers what it paid for.
#[derive(Debug, Default)]
struct Ledger(std::sync::Mutex<Vec<Kind>>);

impl RetryBudget for Ledger {
    fn withdraw(&self, kind: Kind) -> bool {
        self.0.lock().unwrap().push(kind);
        true
    }

    fn refund(&self, _: Kind) {
        unreachable!("no call is dropped");
    }
}

#[test]
fn a_budget_gets_the_kind_and_pays_for_invalid_values_too() {
    #[retry(
        backoff = "none",
        budget = ledger,
        validate = |number| if *number > 4 { Ok(()) } else { Err(TRANSIENT) },
    )]
    fn call(script: &mut Script, ledger: &Ledger) -> Result<usize, Failure> {
        script.next()
    }

    #[retry(
        backoff = "none",
        budget = ledger,
        validate = |number| if *number > 2 { Ok(()) } else { Err(TRANSIENT) },
        correct = |number, _| Ok(number + 1)
    )]
    fn corrected(ledger: &Ledger) -> Result<usize, Failure> {
        Ok(1)
    }

    let ledger = Ledger::default();
    let failures = [TRANSIENT, THROTTLED, Failure(Verdict::TIMEOUT)];
    assert_eq!(call(&mut Script::new(failures), &ledger), Ok(5));
    let expected = [
        Kind::Transient,
        Kind::Throttled,
        Kind::Timeout,
        Kind::Invalid,
    ];
    assert_eq!(*ledger.0.lock().unwrap(), expected);

    let ledger = Ledger::default();
    assert_eq!(corrected(&ledger), Ok(3));
    assert_eq!(*ledger.0.lock().unwrap(), [Kind::Invalid; 2]);
}

#[test]
fn the_reason_is_reported() {
    #[retry(
        backoff = "none",
        budget = Turns::new(0),
        give_up = |gave_up| {
            assert_eq!(gave_up.reason(), Reason::Budget);
            gave_up.into_error()
        }
    )]
    fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let mut script = Script::new([TRANSIENT]);
    assert_eq!(call(&mut script), Err(TRANSIENT));
    assert_eq!(script.attempts, 1);
}
