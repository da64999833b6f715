//! The log of plans, and their progress in observers' events.

use retry_work::plan::Subtask;
use support::prelude::*;

use crate::plan::{EXACT, World};

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
}

#[tokio::test(start_paused = true)]
async fn rounds_are_logged_as_the_attempts_of_a_call() {
    let mut plan = Plan::<(), Failure>::new().name("pages");
    plan.add("a", [], |[]| ready(Err(STOP)));
    plan.add("b", [], |[]| ready(Err(THROTTLED)));
    let recording = testing::record();
    let policy = EXACT.max(1).name("site");
    let end = plan.run_until(policy, async |_| Validity::Invalid("too few".into()));
    assert!(!end.await.unwrap().is_valid());
    assert_eq!(plan.error("a"), Some(&STOP));
    let summary = "0 completed; 2 failed: a, b; 2 dead ends: a, b; 3 executions";
    let lines = [
        "failed site.a attempt=1 error=stop",
        "dead end site.a attempt=1 error=stop reason=not retryable",
        "failed site.b attempt=1 error=throttled",
        "retrying site attempt=1 max=1 delay=1s error=1 of 2 subtasks failed: b; too few reason=throttled",
        "failed site.b attempt=2 error=throttled",
        "gave up site attempt=2 max=1 error=1 of 2 subtasks failed: b; too few reason=exhausted",
        "dead end site.b attempt=2 error=throttled reason=exhausted",
        &format!("summary site: {summary}"),
    ];
    assert_eq!(recording.of("site").lines(), lines);
    // The chain's name applies only to that run.
    plan.run().await.unwrap();
    let line = format!("summary pages: {summary}");
    assert_eq!(recording.of("pages").lines(), [line]);
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
        plan.add(place.to_string(), [], |[]| ready(Err(STOP)));
    }
    let summary = plan.run().await.unwrap();
    let failed = "0 completed; 11 failed: 1, 2, 3, 4, 5, 6, 7, 8 and 3 more; 11 executions";
    assert_eq!(summary.to_string(), failed);
    assert_eq!(summary.failed.len(), 11);
}

#[tokio::test(start_paused = true)]
async fn completed_and_given_up_subtasks_are_counted() {
    let world = World::failing(&[("busy", 2), ("gone", 1)]);
    let mut plan = world.plan("first; busy: first; gone: first; blocked: gone");
    // Subtasks that ran before are included.
    plan.run().await.expect("a plan that can run");
    let events = testing::Recorder::new();
    let policy = EXACT.on(|error: &String| error.starts_with("busy"));
    let policy = policy.observe(|event| events.observe(event));
    let end = plan.run_until(policy, async |results| match results.output("added") {
        Some(_) => Validity::Valid,
        None => world.missing("added: busy"),
    });
    assert!(end.await.expect("a plan that can run").is_valid());
    let expected = [
        "progressed plan attempt=1 done=1 failed=0 waiting=3",
        // Not worth a retry.
        "progressed plan attempt=1 done=1 failed=1 waiting=2",
        // Again in vain, and then the subtask that was missing.
        "progressed plan attempt=3 done=2 failed=1 waiting=1",
        "progressed plan attempt=4 done=2 failed=1 waiting=2",
        "progressed plan attempt=4 done=3 failed=1 waiting=1",
    ];
    let mut events = events.lines();
    events.retain(|line| line.starts_with("progressed"));
    assert_eq!(events, expected);
}
