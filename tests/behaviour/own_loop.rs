//! Users' own loops with `Attempts`. Tests of all forms of calls are in `forms`.

use retry_runtime::own_loop::{Attempts, Call, Site};
use support::dropped::{give_way, leaves_nothing_behind};
use support::prelude::*;
use support::turns::Turns;

const POLICY: Policy = Policy::none().max(2).jitter(Jitter::None);
const SITE: Site<'_> = Site::new(&POLICY, "call");

/// Makes attempts that fail a number of times.
async fn call<W: Timer>(attempts: &mut Attempts<'_, W>, failures: u32) -> Result<u32, Failure> {
    attempts.first().await?;
    loop {
        give_way().await;
        let number = attempts.attempt().number();
        if number > failures {
            return Ok(attempts.ok(number));
        }
        attempts.again(TRANSIENT).await?;
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_loop_releases_everything() {
    leaves_nothing_behind(1, async |shared| {
        let breaker = Breaker::new().consecutive_failures(99);
        let mut attempts = Attempts::new(&SITE)
            .budget(&shared.budget)
            .breaker(&breaker)
            .limiter(&shared.limiter)
            .timer(TimerFn::new(|_| give_way()));
        attempts.first().await.unwrap();
        while attempts.again(shared.attempts(1).await).await.is_ok() {}
    });
}

#[tokio::test(start_paused = true)]
async fn an_attempt_waits_for_its_turn_and_has_the_loops_cost() {
    let limiter = RateLimiter::fixed(4, secs(1));
    let began = Instant::now();
    let mut first = Attempts::new(&SITE).limiter(&limiter).cost(4);
    assert_eq!(call(&mut first, 0).await, Ok(1));
    let mut second = Attempts::new(&SITE).limiter(&limiter);
    assert_eq!(call(&mut second, 0).await, Ok(1));
    assert!(began.elapsed() > Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_first_attempt_ends_the_call() {
    let breaker = Breaker::new();
    breaker.force_open();
    let recording = testing::record();
    let mut attempts = Attempts::new(&SITE).breaker(&breaker);
    let rejected = attempts.first().await.unwrap_err();
    assert_eq!(rejected.by(), RejectedBy::Breaker);
    let mut attempts = Attempts::new(&SITE).breaker(&breaker);
    assert_eq!(attempts.first_blocking(), Err(rejected));
    let line =
        "gave up call attempt=0 max=2 error=rejected by an open circuit breaker reason=rejected";
    assert_eq!(recording.lines(), [line, line]);
}

#[tokio::test(start_paused = true)]
async fn a_saved_call_continues_with_its_state() {
    let policy = Policy::fixed(secs(2))
        .jitter(Jitter::None)
        .deadline(secs(7));
    let site = Site::new(&policy, "call");
    let budget = Turns::new(9);
    let mut attempts = Attempts::new(&site).budget(&budget);
    attempts.first().await.unwrap();
    advance(secs(3)).await;
    assert_eq!(attempts.failed(TRANSIENT), Ok(secs(2)));
    let saved = serde_json::to_string(&attempts.into_saved()).unwrap();
    assert_eq!(budget.left(), 8);

    // If it is dropped before its attempt starts, the payment is refunded.
    let saved: Call = serde_json::from_str(&saved).unwrap();
    drop(Attempts::from_saved(&site, saved).budget(&budget));
    assert_eq!(budget.left(), 9);

    // It has 4 s left of its 7.
    advance(secs(3600)).await;
    let mut attempts = Attempts::from_saved(&site, saved);
    attempts.first().await.unwrap();
    assert_eq!(attempts.attempt().number(), 2);
    advance(secs(3)).await;
    assert_eq!(attempts.failed_if("busy", Verdict::TRANSIENT), Err("busy"));
}

/// In the same process, without being serialized.
#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_saved_call_includes_the_time_before() {
    let policy = Policy::fixed(secs(1)).max(99).jitter(Jitter::None);
    let policy = policy.deadline(secs(10));
    let site = Site::new(&policy, "call");
    let mut attempts = Attempts::new(&site);
    attempts.first().await.unwrap();
    let mut number = 1;
    loop {
        advance(secs(3)).await;
        let Ok(pause) = attempts.failed_if("busy", Verdict::TRANSIENT) else {
            break;
        };
        let saved = attempts.into_saved();
        advance(pause).await;
        attempts = Attempts::from_saved(&site, saved);
        attempts.first().await.unwrap();
        number += 1;
    }
    // Pauses between two processes have no common clock, so only attempts count: 3 + 3 + 3 s.
    assert_eq!(number, 4);
}

#[tokio::test(start_paused = true)]
async fn futures_are_send() {
    let (budget, breaker) = (Budget::standard(), Breaker::new());
    let run = async {
        let mut attempts = Attempts::new(&SITE)
            .budget(&budget)
            .breaker(&breaker)
            .observe(|_| {});
        attempts.first().await.map_err(|_| STOP)?;
        attempts.again(TRANSIENT).await
    };
    assert_eq!(is_send(run).await, Ok(()));
}
