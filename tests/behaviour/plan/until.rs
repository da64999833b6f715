//! `run_until`: validation, rounds, pauses, and endings.

use retry_work::plan::PlanEnd;
use support::prelude::*;

use crate::plan::{EXACT, LocalValidity, World, complete, gave_up, invalid, reason, retryable};

#[tokio::test(start_paused = true)]
async fn failed_subtasks_are_retried_until_the_whole_is_valid() {
    let world = World::failing(&[("b", 2), ("c", 1)]);
    let mut plan = world.plan("a; b: a; c: a; d: b c");
    let start = Instant::now();
    let end = plan.run_until(EXACT.on(retryable), complete).await.unwrap();
    assert_eq!(end, PlanEnd::Valid);
    assert_eq!(end.to_string(), "valid");
    assert_eq!(world.executed(), ["a", "b", "c", "b", "c", "b", "d"]);
    assert_eq!(start.elapsed(), secs(1 + 2));
    assert_eq!(plan.summary().to_string(), "4 completed; 7 executions");
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_is_valid_at_once_runs_once() {
    let world = World::default();
    let mut plan = world.plan("a");
    let start = Instant::now();
    let validations = Cell::new(0);
    let end = plan.run_until(EXACT.on(retryable), |results| {
        validations.set(validations.get() + 1);
        complete(results)
    });
    assert!(end.await.unwrap().is_valid());
    assert_eq!((validations.get(), world.executed().len()), (1, 1));
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_policys_max_bounds_the_rounds() {
    for (max, executions) in [(0, 2), (1, 3), (3, 5)] {
        let world = World::failing(&[("b", u32::MAX)]);
        let mut plan = world.plan("a; b: a; c: b");
        let start = Instant::now();
        let policy = EXACT.max(max).on(retryable);
        let end = plan.run_until(policy, complete).await.unwrap();
        assert_eq!(end, gave_up(Reason::Exhausted, "incomplete"));
        assert_eq!(end.to_string(), "gave up (exhausted): incomplete");
        let summary = "1 completed; 1 failed: b; 1 dead end: b; 1 blocked: c";
        let summary = format!("{summary}; {executions} executions");
        assert_eq!(plan.summary().to_string(), summary);
        assert_eq!(start.elapsed(), EXACT.max(max).delays().sum());
        // Partial results are available, and the plan can continue.
        assert_eq!(plan.output("a").unwrap(), "a()");
        world.failures.borrow_mut().clear();
        assert!(plan.retry_failed().await.unwrap().is_complete());
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_results_that_no_round_could_change_end_at_once() {
    for message in ["too short", "subtasks are missing"] {
        let world = World::default();
        let mut plan = world.plan("a");
        let end = plan.run_until(EXACT.on(retryable), async |_| match message {
            "too short" => Validity::Invalid(message.into()),
            _ => Validity::Missing(Vec::new()),
        });
        let expected = gave_up(Reason::NotRetryable, message);
        assert_eq!(end.await.unwrap(), expected);
        assert_eq!(world.executed(), ["a"]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_for_the_whole() {
    let world = World::failing(&[("a", u32::MAX)]);
    let mut plan = world.plan("a");
    let policy = EXACT.max(u32::MAX).deadline(secs(8));
    let start = Instant::now();
    let end = plan.run_until(policy.on(retryable), async |results| {
        sleep(secs(1)).await;
        complete(results).await
    });
    assert_eq!(reason(&end.await.unwrap()), Some(Reason::Deadline));
    // Validations at 1, 3 and 6 s; the pause after the last would end at 10 s.
    assert_eq!(start.elapsed(), secs(1 + 1 + 1 + 2 + 1));
    assert_eq!(plan.summary().dead_ends, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_hint_beyond_the_deadline_gives_up_only_its_subtask() {
    let policy = Policy::new().deadline(secs(10));
    let server = testing::fail_times(1, TRANSIENT);
    let mut plan = Plan::local();
    let expected = "gave up (deadline): incomplete";
    plan.add("a", [], async |[]| Err(throttled_for(secs(30))));
    let end = plan.run_until(policy, invalid).await.unwrap();
    assert_eq!(end.to_string(), expected);
    plan.add("b", [], async |[]| server.next());
    plan.add("c", [], async |[]| Err(throttled_for(secs(30))));
    let end = plan.run_until(policy, invalid).await.unwrap();
    assert_eq!(end.to_string(), expected);
    assert_eq!(plan.summary().completed, ["b"]);
    assert_eq!(plan.summary().dead_ends, ["a", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_of_dead_ends_gives_up_for_the_first_one_s_reason() {
    let ambiguous = Verdict::TRANSIENT.ambiguous();
    let long = Verdict::THROTTLED.after(Duration::from_hours(1));
    for (verdicts, reason) in [
        (vec![long], "hint too long"),
        (vec![ambiguous, Verdict::STOP], "ambiguous"),
        (vec![Verdict::STOP, ambiguous, long], "not retryable"),
    ] {
        let mut plan = Plan::local();
        for (place, verdict) in verdicts.into_iter().enumerate() {
            plan.add(place.to_string(), [], async move |[]| {
                Err::<(), _>(Failure(verdict))
            });
        }
        let end = plan.run_until(Policy::new().idempotent(false), invalid);
        let expected = format!("gave up ({reason}): incomplete");
        assert_eq!(end.await.unwrap().to_string(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_dropped_in_a_pause_continues_where_it_stopped() {
    let world = World::failing(&[("b", 1)]);
    let mut plan = world.plan("a; b: a; c: b");
    let end = plan.run_until(EXACT.on(retryable), complete);
    assert!(timeout(millis(500), end).await.is_err());
    assert_eq!(plan.summary().failed, ["b"]);
    assert_eq!(plan.error("b").unwrap(), "b is busy");
    let start = Instant::now();
    let end = plan.run_until(EXACT.on(retryable), complete).await.unwrap();
    assert!(end.is_valid());
    assert_eq!(world.executed(), ["a", "b", "b", "c"]);
    // The pause before the retry starts again.
    assert_eq!(start.elapsed(), secs(1));
}

#[tokio::test(start_paused = true)]
async fn results_may_be_valid_in_spite_of_failures() {
    for (failures, dead_ends) in [(1, vec!["b"; 0]), (2, vec!["b"])] {
        let world = World::failing(&[("a", failures - 1), ("b", u32::MAX)]);
        let mut plan = world.plan("a; b");
        let end = plan.run_until(EXACT.on(retryable), async |results| {
            match results.output("a") {
                Some(_) => Validity::Valid,
                None => Validity::Invalid("no a".into()),
            }
        });
        assert!(end.await.unwrap().is_valid());
        assert_eq!(plan.summary().failed, ["b"]);
        // Only if it was retried, and failed again.
        assert_eq!(plan.summary().dead_ends, dead_ends);
    }
}

#[tokio::test]
async fn a_plan_that_cannot_run_is_not_validated() {
    let world = World::default();
    let mut plan = world.plan("a: z");
    let validate = async |_| -> LocalValidity<'_> { panic!("validated") };
    assert!(plan.run_until(EXACT.on(retryable), validate).await.is_err());
}
