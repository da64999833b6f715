//! `run_until`: validation, rounds, pauses, and endings.

use retry_work::plan::{Local, PlanEnd};
use support::prelude::*;

use crate::plan::{EXACT, World, complete, gave_up, invalid, reason, retryable};

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

/// A plan with a subtask for each verdict, which always fails with it.
fn failing(verdicts: &[Verdict]) -> Plan<'static, (), Failure, Local<'static, (), Failure>> {
    let mut plan = Plan::local();
    for (place, verdict) in verdicts.iter().copied().enumerate() {
        plan.add(place.to_string(), [], async move |[]| Err(Failure(verdict)));
    }
    plan
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
        let mut plan = failing(&verdicts);
        let end = plan.run_until(Policy::new().idempotent(false), invalid);
        let expected = format!("gave up ({reason}): incomplete");
        assert_eq!(end.await.unwrap().to_string(), expected);
    }
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

#[tokio::test(start_paused = true)]
async fn a_round_waits_for_its_longest_hint() {
    let policy = EXACT.max(1).throttled(Section::new().base(secs(10)));
    let policy = policy.timed_out(Section::new().base(secs(5)));
    let hint = |seconds| Verdict::TRANSIENT.after(secs(seconds));
    for (verdicts, waits, dead_ends) in rows! {
        vec![Verdict::TRANSIENT, Verdict::TRANSIENT], 1, 0;
        vec![Verdict::TIMEOUT, Verdict::TRANSIENT], 5, 0;
        vec![Verdict::TRANSIENT, Verdict::THROTTLED, Verdict::TIMEOUT], 10, 0;
        vec![hint(7), hint(20), Verdict::THROTTLED, hint(3)], 20, 0;
        // Longer than the policy's `max_hint`, 120 s: a dead end, which doesn't hold up other subtasks.
        vec![hint(121), Verdict::TRANSIENT], 1, 1;
        vec![hint(120), Verdict::TRANSIENT], 120, 0;
    } {
        let mut plan = failing(&verdicts);
        let start = Instant::now();
        let first = Cell::new(None);
        let end = plan.run_until(policy, async |results| {
            if first.get().is_none() {
                first.set(Some(results.summary().dead_ends.len()));
            }
            Validity::Invalid("no".into())
        });
        assert!(!end.await.unwrap().is_valid());
        assert_eq!(start.elapsed(), secs(waits), "{verdicts:?}");
        assert_eq!(first.get(), Some(dead_ends), "{verdicts:?}");
    }
}

/// Runs subtasks that each fail once with a hint in milliseconds. Returns the dead ends.
async fn dead_ends(policy: &Policy, hints: &[u64]) -> Vec<String> {
    let mut plan = Plan::local();
    for (place, hint) in hints.iter().enumerate() {
        let first = RefCell::new(Some(throttled_for(millis(*hint))));
        plan.add(place.to_string(), [], async move |[]| {
            first.take().map_or(Ok(()), Err)
        });
    }
    let end = plan.run_until(*policy, async |results| {
        let completed = results.summary().completed.len();
        if completed + results.summary().dead_ends.len() == hints.len() && completed > 0 {
            Validity::Valid
        } else {
            Validity::Invalid("no".into())
        }
    });
    let _ = end.await.unwrap();
    plan.summary().dead_ends
}

#[tokio::test(start_paused = true)]
async fn a_hint_beyond_the_deadline_holds_no_other_up() {
    let none: [&str; 0] = [];
    for seed in 0..20 {
        let _seeded = testing::seed(seed);
        // Up to a tenth is added, but not beyond the deadline.
        let policy = Policy::new().deadline(secs(10));
        assert_eq!(dead_ends(&policy, &[30_000, 9_990, 9_100]).await, ["0"]);
        let section = Section::new().jitter(Jitter::Full);
        let policy = EXACT.deadline(secs(10)).throttled(section);
        assert_eq!(dead_ends(&policy, &[9_990, 1_000]).await, none);
    }
    // A subtask with the same hint is retried, too.
    let policy = EXACT.deadline(secs(10));
    assert_eq!(dead_ends(&policy, &[10_000, 10_001, 10_000]).await, ["1"]);
    assert_eq!(dead_ends(&policy, &[10_002, 10_001]).await, ["0", "1"]);
    let policy = EXACT.total_delay(secs(5));
    assert_eq!(dead_ends(&policy, &[9_000, 4_000]).await, ["0"]);
    for hint in [Hint::Ignore, Hint::Clamp] {
        let policy = EXACT.hint(hint).deadline(secs(10));
        assert_eq!(dead_ends(&policy, &[100_000, 20_000]).await, none);
    }
}
