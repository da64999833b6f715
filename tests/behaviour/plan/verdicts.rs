//! `run_until`: the effect of each verdict on a failed subtask, and the length of pauses.

use std::collections::HashSet;

use retry_work::plan::{Snapshot, Subtask};
use support::prelude::*;

use crate::plan::{EXACT, reason};

/// A plan with a subtask for each verdict, which always fails with it.
fn failing(verdicts: &[Verdict]) -> Plan<'static, (), Failure> {
    let mut plan = Plan::new();
    for (place, verdict) in verdicts.iter().enumerate() {
        let verdict = *verdict;
        plan.add(place.to_string(), [], move |[]| {
            ready(Err(Failure(verdict)))
        });
    }
    plan
}

/// Never valid.
async fn never<'a>(_: Snapshot<()>) -> Validity<'a, (), Failure> {
    Validity::Invalid("no".into())
}

#[tokio::test(start_paused = true)]
async fn a_non_retryable_failure_is_a_dead_end_at_once_and_uses_no_round() {
    let mut plan = failing(&[Verdict::STOP, Verdict::TRANSIENT]);
    let dead_ends = RefCell::new(Vec::new());
    let end = plan.run_until(EXACT.max(2), async |results| {
        dead_ends
            .borrow_mut()
            .push(results.summary().dead_ends.clone());
        Validity::Invalid("no".into())
    });
    assert_eq!(reason(&end.await.unwrap()), Some(Reason::Exhausted));
    assert_eq!(plan.summary().executions, 1 + 3);
    assert_eq!(dead_ends.into_inner(), [["0"], ["0"], ["0"]]);
    assert_eq!(plan.summary().dead_ends, ["0", "1"]);
    assert_eq!(plan.error("0"), Some(&Failure(Verdict::STOP)));

    // Without other subtasks, the plan ends after its first round.
    let mut plan = failing(&[Verdict::STOP]);
    let start = Instant::now();
    let end = plan.run_until(EXACT, never);
    assert_eq!(reason(&end.await.unwrap()), Some(Reason::NotRetryable));
    let expected = (1, Duration::ZERO);
    assert_eq!((plan.summary().executions, start.elapsed()), expected);
}

#[tokio::test(start_paused = true)]
async fn dead_ends_do_not_keep_missing_subtasks_out() {
    let mut plan = failing(&[Verdict::STOP]);
    let end = plan.run_until(EXACT.max(1), async |results| {
        match results.output("instead") {
            Some(()) => Validity::Valid,
            None => Validity::Missing(vec![Subtask::new("instead", [], async |[]| Ok(()))]),
        }
    });
    assert!(end.await.unwrap().is_valid());
    assert_eq!(plan.summary().dead_ends, ["0"]);
    assert_eq!(plan.summary().executions, 2);
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
    let failed = RefCell::new(HashSet::new());
    let mut plan = Plan::local();
    for (place, hint) in hints.iter().enumerate() {
        let failed = &failed;
        plan.add(place.to_string(), [], async move |[]| {
            if !failed.borrow_mut().insert(place) {
                return Ok(());
            }
            Err(throttled_for(millis(*hint)))
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
}

#[tokio::test(start_paused = true)]
async fn an_ignored_hint_does_not_end_the_plan() {
    for hint in [Hint::Ignore, Hint::Clamp] {
        let policy = EXACT.hint(hint).deadline(secs(10));
        assert_eq!(dead_ends(&policy, &[100_000, 20_000]).await, [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn sleeps_can_be_skipped_and_rounds_recorded() {
    let skipped = testing::skip_sleeps();
    let recording = testing::record();
    let mut plan = failing(&[Verdict::TRANSIENT]);
    let end = plan.run_until(EXACT.max(2), never);
    assert!(!end.await.unwrap().is_valid());
    assert_eq!(skipped.total(), secs(3));
    assert_eq!(recording.delays(), [secs(1), secs(2)]);
}
