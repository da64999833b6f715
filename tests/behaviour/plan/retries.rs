//! `retry_failed`: subtasks that are executed again, and subtasks that fail again.

use std::panic::resume_unwind;

use ::futures::FutureExt;
use support::prelude::*;

use crate::plan::World;

const TEN: &str = "a; b; c; d; e; f; g; h; i; j";

#[tokio::test]
async fn ten_subtasks_of_which_three_fail_and_one_again_take_14_executions_and_not_30() {
    let failures = [("b", 1), ("e", 2), ("h", 1)];
    let world = World::failing(&failures);
    let mut plan = world.plan(TEN);
    assert_eq!(plan.run().await.unwrap().failed, ["b", "e", "h"]);
    assert_eq!(plan.retry_failed().await.unwrap().dead_ends, ["e"]);
    let summary = plan.retry_failed().await.unwrap();
    assert!(summary.is_complete() && summary.dead_ends.is_empty());
    assert_eq!(summary.executions, 14);
    let executed = world.executed();
    assert_eq!(executed.len(), 14);
    assert_eq!(executed[10..], ["b", "e", "h", "e"]);

    // The whole plan, created again until it succeeds.
    let whole = World::failing(&failures);
    while !whole.plan(TEN).run().await.unwrap().is_complete() {}
    assert_eq!(whole.executed().len(), 30);
}

#[tokio::test]
async fn failed_subtasks_run_first_and_then_the_blocked_ones() {
    let world = World::failing(&[("2", 1)]);
    let mut plan = world.plan("1; 2: 1; 3: 2; 4: 3; 5");
    plan.run().await.unwrap();
    assert_eq!(world.executed(), ["1", "5", "2"]);
    let summary = plan.retry_failed().await.unwrap();
    assert_eq!(world.executed(), ["2", "3", "4"]);
    assert!(summary.is_complete());
    assert_eq!(plan.output("4").unwrap(), "4(3(2(1())))");
    // No subtask failed, so nothing is done.
    assert_eq!(plan.retry_failed().await.unwrap(), summary);
    assert!(world.executed().is_empty());
}

#[tokio::test]
async fn a_repeated_failure_is_a_dead_end_and_does_not_stop_others() {
    let world = World::failing(&[("b", 9), ("d", 1), ("e", 1)]);
    let mut plan = world.plan("a; b: a; c: b; d; e: d");
    assert!(plan.run().await.unwrap().dead_ends.is_empty());
    let summary = plan.retry_failed().await.unwrap();
    assert_eq!(summary.completed, ["a", "d"]);
    assert_eq!(plan.error("b").unwrap(), "b is busy");
    assert_eq!(plan.output("d").unwrap(), "d()");
    // `e` was blocked at first, so this was its first failure.
    let expected = "2 completed; 2 failed: b, e; 1 dead end: b; 1 blocked: c; 6 executions";
    assert_eq!(summary.to_string(), expected);
    world.executed();
    let summary = plan.retry_failed().await.unwrap();
    assert_eq!(world.executed(), ["b", "e"]);
    assert_eq!(summary.dead_ends, ["b"]);
    assert_eq!(plan.run().await.unwrap().dead_ends, ["b"]);
}

#[tokio::test]
async fn a_retry_runs_only_failed_and_blocked_subtasks() {
    let world = World::failing(&[("a", 1)]);
    let mut plan = world.plan("a; b: a");
    plan.run().await.unwrap();
    plan.add("new", [], async |[]| world.execute("new", &[]));
    plan.add("newer", ["a", "new"], async |[_, _]| {
        world.execute("newer", &[])
    });
    world.executed();
    let summary = plan.retry_failed().await.unwrap();
    assert_eq!(world.executed(), ["a", "b"]);
    assert_eq!(summary.pending, ["new", "newer"]);
    assert!(plan.run().await.unwrap().is_complete());
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_unchanged_if_its_retry_is_dropped() {
    let world = World::failing(&[("a", 1)]).hanging("a", 2);
    let mut plan = world.plan("a; b: a");
    plan.run().await.unwrap();
    assert!(timeout(secs(1), plan.retry_failed()).await.is_err());
    let summary = plan.summary();
    let expected = "0 completed; 1 failed: a; 1 blocked: b; 2 executions";
    assert_eq!(summary.to_string(), expected);
    assert_eq!(plan.error("a").unwrap(), "a is busy");
    // A run leaves it alone, as any failure.
    assert_eq!(plan.run().await.unwrap(), summary);
    // The next retry takes it up, and what it blocked.
    plan.add("new", [], async |[]| world.execute("new", &[]));
    let recording = testing::record();
    let summary = plan.retry_failed().await.unwrap();
    assert_eq!(summary.completed, ["a", "b"]);
    assert_eq!(summary.pending, ["new"]);
    assert_eq!(world.executed(), ["a", "a", "a", "b"]);
    let expected = [
        "retrying plan error=1 of 3 subtasks failed: a",
        "recovered plan.a attempt=3",
    ];
    assert_eq!(recording.lines()[..2], expected);
}

#[tokio::test(start_paused = true)]
async fn a_panic_leaves_the_plan_as_a_dropped_run_does() {
    let tries = Cell::new(0);
    let mut plan = Plan::local();
    plan.add("a", [], async |[]| Ok(()));
    plan.add("b", ["a"], async |[_]| {
        tries.set(tries.get() + 1);
        match tries.get() {
            1 | 3 => resume_unwind(Box::new("b")), // Prints nothing.
            2 => Err("busy"),
            _ => Ok(()),
        }
    });
    plan.add("slow", [], async |[]| {
        sleep(secs(1)).await;
        Ok(())
    });
    let outcome = AssertUnwindSafe(plan.run()).catch_unwind().await;
    assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"b"));
    let expected = "1 completed; 2 pending: b, slow; 3 executions";
    assert_eq!(plan.summary().to_string(), expected);
    assert_eq!(plan.run().await.unwrap().failed, ["b"]);
    let outcome = AssertUnwindSafe(plan.retry_failed()).catch_unwind().await;
    assert!(outcome.is_err());
    assert_eq!(plan.error("b"), Some(&"busy"));
    assert!(plan.summary().dead_ends.is_empty());
    let summary = plan.retry_failed().await.unwrap();
    assert!(summary.is_complete());
    assert_eq!(summary.executions, 1 + 4 + 2);
}
