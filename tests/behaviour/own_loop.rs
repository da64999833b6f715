//! Users' own loops, with `Attempts` or only `Policy::pauses`. Tests of all forms of calls are in `forms`.

use retry_runtime::own_loop::{Attempts, Call, Site};
use support::dropped::{give_way, leaves_nothing_behind};
use support::prelude::*;
use support::turns::Turns;

const POLICY: Policy = Policy::none().max(2).jitter(Jitter::None);
const SITE: Site<'_> = Site::new(&POLICY, "call");

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
    assert_eq!(first.first().await, Ok(()));
    assert_eq!(began.elapsed(), Duration::ZERO);
    let mut second = Attempts::new(&SITE).limiter(&limiter);
    assert_eq!(second.first().await, Ok(()));
    assert!(began.elapsed() > Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_first_attempt_has_what_rejected_it() {
    let breaker = Breaker::new();
    breaker.force_open();
    let mut attempts = Attempts::new(&SITE).breaker(&breaker);
    let rejected = attempts.first().await.unwrap_err();
    assert_eq!(rejected.by(), RejectedBy::Breaker);
    let mut attempts = Attempts::new(&SITE).breaker(&breaker);
    assert_eq!(attempts.first_blocking(), Err(rejected));
}

#[tokio::test(start_paused = true)]
async fn a_saved_call_continues_with_its_state() {
    let policy = Policy::fixed(secs(2)).jitter(Jitter::None).max(9);
    let policy = policy.deadline(secs(7));
    let site = Site::new(&policy, "call");
    let budget = Turns::new(9);
    let mut attempts = Attempts::new(&site).budget(&budget);
    attempts.first().await.unwrap();
    advance(secs(3)).await;
    assert_eq!(attempts.failed(TRANSIENT), Ok(secs(2)));
    let kept = attempts.into_saved();
    let read: Call = serde_json::from_str(&serde_json::to_string(&kept).unwrap()).unwrap();
    assert_eq!(budget.left(), 8);

    // If it is dropped before its attempt starts, the payment is refunded.
    drop(Attempts::from_saved(&site, read).budget(&budget));
    assert_eq!(budget.left(), 9);

    // It has 4 s left of its 7, also if it was not serialized. Processes have no common clock, so only attempts count.
    for mut saved in [kept, read] {
        for (number, outcome) in [(2, Ok(secs(2))), (3, Ok(secs(2))), (4, Err("busy"))] {
            advance(secs(3600)).await;
            let mut attempts = Attempts::from_saved(&site, saved);
            attempts.first().await.unwrap();
            assert_eq!(attempts.attempt().number(), number);
            advance(secs(1)).await;
            assert_eq!(attempts.failed_if("busy", Verdict::TRANSIENT), outcome);
            saved = attempts.into_saved();
        }
    }
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

#[test]
fn pauses_are_numbered_until_none_remain() {
    let policy = Policy::fixed(secs(1)).max(3).jitter(Jitter::None);
    let mut pauses = policy.pauses();
    let mut seen = Vec::new();
    loop {
        let remaining = pauses.remaining();
        let left = usize::try_from(remaining.unwrap()).unwrap();
        assert_eq!(pauses.size_hint(), (left, Some(left)));
        let pause = pauses.next();
        seen.push((pauses.number(), remaining, pause));
        if pause.is_none() {
            break;
        }
    }
    assert_eq!(
        seen,
        [
            (1, Some(3), Some(secs(1))),
            (2, Some(2), Some(secs(1))),
            (3, Some(1), Some(secs(1))),
            (3, Some(0), None),
        ]
    );
    pauses.reset();
    assert_eq!((pauses.number(), pauses.remaining()), (0, Some(3)));

    // Unlimited ones always remain.
    let mut pauses = policy.max(u32::MAX).pauses();
    assert_eq!(pauses.nth(9), Some(secs(1)));
    assert_eq!((pauses.number(), pauses.remaining()), (10, None));
    assert_eq!(pauses.size_hint(), (usize::MAX, None));
}
