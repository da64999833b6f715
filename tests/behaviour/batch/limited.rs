//! Batches with a limiter: a call waits for its turn, and counts as many attempts as it has items.

use futures::join;
use support::dropped::{OnDrop, give_way, leaves_nothing_behind};
use support::limiters::{at_a_time, each};
use support::prelude::*;

use super::{EXACT, Most, NONE, Results, Server, all_ok, errors, secs};

#[tokio::test(start_paused = true)]
async fn a_call_costs_as_much_as_it_has_items() {
    let (limiter, server) = (each(1), Server::new([]));
    let batches = EXACT.limiter(&limiter).batches(3).concurrency(2);
    assert_eq!(errors(&server.run(batches, 7).await), NONE);
    // Each waits until what the one before took is paid off.
    assert_eq!(server.calls(), "0: 0 1 2; 3: 3 4 5; 6: 6");
    assert_eq!(limiter.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_quota_counts_requests_and_what_their_items_cost() {
    // Six requests and sixty tokens a minute.
    for (cost, calls) in [
        (1, "0: 0 1; 10: 2 3; 20: 4 5"),
        (10, "0: 0 1; 20: 2 3; 40: 4 5"),
    ] {
        let limiter = RateLimiter::quota(6, 60);
        let limiter = limiter.cost(cost);
        let server = Server::new([]);
        let results = server.run(EXACT.limiter(&limiter).batches(2), 6).await;
        assert_eq!(errors(&results), NONE);
        assert_eq!(server.calls(), calls, "{cost}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_with_more_items_than_the_limit_runs_alone() {
    let limiter = at_a_time(3);
    let server = Server {
        takes: secs(1),
        ..Server::new([])
    };
    let batches = EXACT.limiter(&limiter).batches(5).concurrency(3);
    assert_eq!(errors(&server.run(batches, 12).await), NONE);
    assert_eq!(server.calls(), "0: 0 1 2 3 4; 1: 5 6 7 8 9; 2: 10 11");
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_batch_releases_slots_once_its_calls_are_gone() {
    let (limiter, gone) = (at_a_time(2), RefCell::new(Vec::new()));
    let batches = EXACT.limiter(&limiter).batches(1).concurrency(3);
    let results = retry_each(batches, 0..9, async |pending| {
        let _request = OnDrop(|| gone.borrow_mut().push(limiter.running()));
        sleep(secs(1)).await;
        all_ok(pending)
    });
    let waiting = async {
        sleep(millis(200)).await;
        limiter.waiting()
    };
    // A call that waits counts towards the concurrency.
    let (ended, waiting) = join!(timeout(millis(500), results), waiting);
    assert!(ended.is_err() && waiting == 1);
    assert_eq!(gone.into_inner(), [2, 2]);
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn items_whose_turn_cannot_come_in_time_end_at_once() {
    for (limiter, policy, cancels, seconds, reason, error) in rows! {
        each(10).max_wait(secs(5)), EXACT, 99, 0, Reason::Rejected, "rejected by the limiter";
        each(10), EXACT.deadline(secs(5)), 99, 0, Reason::Deadline,
            "rejected: its turn comes after its deadline";
        each(10), EXACT, 4, 4, Reason::Cancelled, "cancelled while it waited for its turn";
    } {
        let (start, recording) = (Instant::now(), testing::record());
        let batches = policy
            .name("items")
            .limiter(&limiter)
            .cancel(sleep(secs(cancels)))
            .batches(1)
            .concurrency(3);
        let results = Server::new([]).run(batches, 3).await;
        let expected = format!("1 2: 0 attempts ({reason}): not sent");
        assert_eq!(errors(&results), [expected]);
        assert_eq!(start.elapsed(), secs(seconds));
        assert_eq!(limiter.waiting(), 0);
        let line =
            format!("gave up items attempt=0 max=3 error=2 of 3 items: {error} reason={reason}");
        assert_eq!(recording.lines().last(), Some(&line));
    }
}

#[tokio::test(start_paused = true)]
async fn no_call_waits_while_the_breaker_is_open() {
    let (limiter, breaker) = (each(60), Breaker::new().consecutive_failures(2));
    let (recording, events) = (testing::record(), testing::Recorder::new());
    let start = Instant::now();
    let batches = EXACT
        .name("items")
        .limiter(&limiter)
        .breaker(&breaker)
        .observe(|event| events.observe(event))
        .batches(2);
    let server = Server::new([(0..2, vec![TRANSIENT])]);
    let expected = [
        "0 1: 1 attempt (rejected): transient",
        "2: 0 attempts (rejected): not sent",
    ];
    assert_eq!(errors(&server.run(batches, 3).await), expected);
    // The pause before the round that is not sent.
    assert_eq!(start.elapsed(), secs(1));
    assert_eq!(breaker.state(), BreakerState::Open);
    let events = events.lines();
    assert!(!events.iter().any(|event| event.starts_with("waiting")));
    let lines = recording.lines();
    let opened = "breaker opened items attempt=1 ";
    assert!(lines[0].starts_with(opened), "{lines:?}");
    let end = "gave up items attempt=1 max=3 error=2 of 2 items: transient reason=rejected";
    assert!(lines.contains(&end.to_owned()), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_reports_the_worst_outcome_of_its_items() {
    let throttled = || throttled_for(secs(7));
    for (answers, pauses) in rows! {
        vec![Ok(0), Err(STOP)], None;
        vec![Ok(0), Err(TRANSIENT)], None;
        vec![Err(throttled()), Ok(0), Err(TRANSIENT)], Some(7);
        vec![Err(THROTTLED), Err(throttled()), Err(throttled_for(secs(3)))], Some(7);
    } {
        let limiter = RateLimiter::adaptive();
        let items = u32::try_from(answers.len()).unwrap();
        let batches = EXACT.max(0).limiter(&limiter);
        let _ = retry_each(batches, 0..items, async |_| Ok(answers.clone())).await;
        let pause = limiter.paused_for().map(|pause| pause.as_secs());
        assert_eq!(pause, pauses, "{answers:?}");
    }
}

/// Within it, all items were rejected by something further in.
#[tokio::test(start_paused = true)]
async fn a_call_that_sent_nothing_costs_nothing() {
    let rejected = || Err::<u32, _>(io::Error::from(Rejected::new(RejectedBy::Breaker)));
    for (is_sent, left) in [(false, 5.0), (true, 3.0)] {
        let limiter = RateLimiter::fixed(1, secs(60)).burst(5);
        let batches = EXACT.max(0).limiter(&limiter);
        let answers = async |_| Ok(vec![rejected(), if is_sent { Ok(1) } else { rejected() }]);
        let _ = retry_each(batches, 0..2, answers).await;
        let available = limiter.available();
        assert!((available - left).abs() < 0.5, "{available}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_pays_for_no_throttled_items() {
    // Enough for one retry.
    let (limiter, budget) = (at_a_time(9), Budget::standard().capacity(14));
    let server = Server::new([(0..1, vec![TRANSIENT]), (1..3, vec![THROTTLED; 2])]);
    let batches = EXACT.limiter(&limiter).budget(&budget).batches(9);
    assert_eq!(errors(&server.run(batches, 3).await), NONE);
}

#[test]
fn threads_wait_for_their_turns() {
    let (limiter, most) = (at_a_time(1), Most::default());
    let batches = Policy::none().limiter(&limiter).batches(1).concurrency(4);
    let results: Results = retry_each_blocking(batches, 0..20, |pending| {
        let _running = most.one_more();
        thread::yield_now();
        all_ok(pending)
    });
    assert_eq!(errors(&results), NONE);
    assert_eq!(most.get(), 1);
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_batch_releases_everything() {
    // Each item pays, or each request that failed as a whole.
    for (payers, size, fails_whole) in [(5, 1, true), (5, 2, false), (3, 2, true)] {
        leaves_nothing_behind(payers, async |shared| {
            let batches = Policy::none()
                .max(2)
                .timer(TimerFn::new(|_| give_way()))
                .limiter(&shared.limiter)
                .budget(&shared.budget)
                .batches(size)
                .concurrency(4);
            let results = retry_each(batches, 0..5, async |pending: Vec<i32>| {
                if fails_whole {
                    return Err::<Vec<Result<(), _>>, _>(shared.attempts(1).await);
                }
                let failure = shared.attempts(pending.len()).await;
                Ok(pending.iter().map(|_| Err(failure.clone())).collect())
            });
            assert!(results.await.iter().all(Result::is_err));
        });
    }
}
