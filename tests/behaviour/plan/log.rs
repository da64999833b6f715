//! The log of plans.

use retry_work::plan::Subtask;
use support::prelude::*;

use crate::plan::{World, invalid};

#[tokio::test]
async fn failures_retries_healings_dead_ends_and_the_summary() {
    let world = World::failing(&[("b", 1), ("d", 9)]);
    let mut plan = world.plan("a; b: a; c: b; d");
    let recording = testing::record();
    plan.run().await.unwrap();
    plan.retry_failed().await.unwrap();
    let lines = [
        "completed plan.a attempt=1",
        "failed plan.d attempt=1 error=d is busy",
        "failed plan.b attempt=1 error=b is busy",
        "summary plan: 1 completed; 2 failed: b, d; 1 blocked: c; 3 executions",
        "retrying plan error=2 of 4 subtasks failed: b, d",
        "recovered plan.b attempt=2",
        "dead end plan.d attempt=2 error=d is busy reason=exhausted",
        "completed plan.c attempt=1",
        "summary plan: 3 completed; 1 failed: d; 1 dead end: d; 6 executions",
    ];
    assert_eq!(recording.lines(), lines);
    drop(recording);
    // No subtask failed, so none is retried.
    let mut plan = world.plan("a");
    let recording = testing::record();
    plan.retry_failed().await.unwrap();
    let lines = ["summary plan: 0 completed; 1 pending: a; 0 executions"];
    assert_eq!(recording.lines(), lines);
}

#[tokio::test(start_paused = true)]
async fn rounds_are_logged_as_the_attempts_of_a_call() {
    let mut plan = Plan::<(), Failure>::new().name("pages");
    plan.add("a", [], |[]| ready(Err(Failure(Verdict::STOP))));
    plan.add("b", [], |[]| ready(Err(Failure(Verdict::THROTTLED))));
    let recording = testing::record();
    let policy = Policy::new().max(1).jitter(Jitter::None);
    let end = plan.run_until(policy, async |_| Validity::Invalid("too few".into()));
    assert!(!end.await.unwrap().is_valid());
    let lines = [
        "failed pages.a attempt=1 error=stop",
        "dead end pages.a attempt=1 error=stop reason=not retryable",
        "failed pages.b attempt=1 error=throttled",
        "retrying pages attempt=1 max=1 delay=1s error=1 of 2 subtasks failed: b; too few reason=throttled",
        "failed pages.b attempt=2 error=throttled",
        "gave up pages attempt=2 max=1 error=1 of 2 subtasks failed: b; too few reason=exhausted",
        "dead end pages.b attempt=2 error=throttled reason=exhausted",
        "summary pages: 0 completed; 2 failed: a, b; 2 dead ends: a, b; 3 executions",
    ];
    assert_eq!(recording.of("pages").lines(), lines);
}

#[tokio::test]
async fn added_subtasks_and_success_are_logged() {
    let mut plan = Plan::<(), Failure>::new();
    let recording = testing::record();
    let end = plan.run_until(Policy::none(), async |results| {
        match results.output("label") {
            Some(()) => Validity::Valid,
            None => Validity::Missing(vec![Subtask::new("label", [], async |[]| Ok(()))]),
        }
    });
    assert!(end.await.unwrap().is_valid());
    let lines = [
        "retrying plan attempt=1 max=3 delay=0ns error=missing: label reason=transient",
        "completed plan.label attempt=1",
        "succeeded plan attempt=2 max=3",
        "summary plan: 1 completed; 1 execution",
    ];
    assert_eq!(recording.lines(), lines);
}

#[tokio::test]
async fn long_lists_of_names_are_shortened() {
    let mut plan = Plan::<(), Failure>::new();
    for place in 1..=11 {
        plan.add(place.to_string(), [], |[]| {
            ready(Err(Failure(Verdict::STOP)))
        });
    }
    let summary = plan.run().await.unwrap();
    let failed = "0 completed; 11 failed: 1, 2, 3, 4, 5, 6, 7, 8 and 3 more; 11 executions";
    assert_eq!(summary.to_string(), failed);
    assert_eq!(summary.failed.len(), 11);
}

#[tokio::test(start_paused = true)]
async fn a_round_cut_off_by_the_deadline_shows_the_max_of_the_policy() {
    let world = World::failing(&[("a", 1)]).hanging("a", 2);
    let mut plan = world.plan("a");
    let recording = testing::record();
    let policy = Policy::new()
        .max(1)
        .throttled(Section::new().max(9))
        .deadline(secs(30))
        .on(|_: &String| Verdict::THROTTLED);
    let end = plan.run_until(policy, invalid);
    assert!(!end.await.unwrap().is_valid());
    let expected = [
        "dead end plan.a attempt=2 error=a is busy reason=deadline",
        "gave up plan attempt=2 max=1 error=1 under way at the deadline: a reason=deadline",
    ];
    assert_eq!(recording.lines()[2..4], expected);
}
