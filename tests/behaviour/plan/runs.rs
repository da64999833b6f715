//! The executions of `run` and `retry_failed`, their order and concurrency. Subtasks that fail again.

use std::panic::resume_unwind;

use ::futures::FutureExt;
use support::prelude::*;

use crate::plan::{EXACT, World, complete};

#[tokio::test]
async fn a_subtask_gets_the_outputs_of_its_dependencies_in_their_order() {
    let mut plan = Plan::<_, String>::new();
    // Dependencies may be added after the subtasks that depend on them.
    plan.add("difference", ["ten", "four"], async |[ten, four]| {
        Ok(*ten - *four)
    });
    plan.add("four", [], async |[]| Ok(4));
    plan.add("ten", [], async |[]| Ok(10));
    plan.add("all", vec!["four", "ten", "four"], async |all| {
        Ok(all.iter().fold(0, |sum, number| sum * 100 + **number))
    });
    let summary = plan.run().await.unwrap();
    assert_eq!(summary.completed, ["difference", "four", "ten", "all"]);
    assert!(summary.is_complete());
    let outputs: Vec<_> = plan.outputs().collect();
    let expected = [
        ("difference", &6),
        ("four", &4),
        ("ten", &10),
        ("all", &41_004),
    ];
    assert_eq!(outputs, expected);
    let snapshot = plan.snapshot();
    assert_eq!(snapshot.outputs().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn outputs_are_shared_not_cloned() {
    struct NotClone;
    let value = Arc::new(NotClone);
    let mut plan = Plan::<Arc<NotClone>, String>::new();
    plan.add("a", [], async |[]| Ok(Arc::clone(&value)));
    plan.add("b", ["a"], async |[a]| Ok(Arc::clone(&*a)));
    plan.add("c", ["a", "b"], async |[_, b]| Ok(Arc::clone(&*b)));
    plan.run().await.unwrap();
    // One reference here, and three in outputs.
    assert_eq!(Arc::strong_count(&value), 4);
}

#[tokio::test]
async fn a_failure_blocks_its_dependents_and_nothing_else() {
    let world = World::failing(&[("b", 1)]);
    let mut plan = world.plan("a; b: a; c: b; d: c a; e: a; f");
    let summary = plan.run().await.unwrap();
    assert_eq!(summary.completed, ["a", "e", "f"]);
    let expected = "3 completed; 1 failed: b; 2 blocked: c, d; 4 executions";
    assert_eq!(summary.to_string(), expected);
    assert_eq!(world.executed(), ["a", "f", "b", "e"]);
    assert_eq!(summary, plan.summary());
    // Partial results are there, and so are the errors.
    assert_eq!(plan.output("e").unwrap(), "e(a())");
    assert_eq!(plan.output("b"), None);
    assert_eq!(plan.error("b").unwrap(), "b is busy");
    assert_eq!(plan.error("c"), None);
    assert_eq!(plan.errors().count(), 1);
    assert_eq!(plan.output("no such"), None);
    // Failed subtasks run again only with a retry.
    assert_eq!(plan.run().await.unwrap(), summary);
    assert!(world.executed().is_empty());
}

#[tokio::test(start_paused = true)]
async fn concurrency_stays_within_the_limit() {
    let second = secs(1);
    for (limit, expected, elapsed) in rows! {
        Some(3), 3, 4;
        Some(0), 1, 10;
        None, 8, 2;
        Some(99), 10, 1;
    } {
        let (now, most) = (Cell::new(0), Cell::new(0));
        let mut plan = Plan::<_, String, _>::local();
        if let Some(limit) = limit {
            plan = plan.concurrency(limit);
        }
        for number in 0..10 {
            plan.add(number.to_string(), [], async |[]| {
                now.set(now.get() + 1);
                most.set(most.get().max(now.get()));
                sleep(second).await;
                now.set(now.get() - 1);
                Ok(())
            });
        }
        let start = Instant::now();
        plan.run().await.unwrap();
        assert_eq!(most.get(), expected);
        assert_eq!(start.elapsed(), second * elapsed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_subtask_starts_as_soon_as_its_own_dependencies_are_done() {
    let start = Instant::now();
    let mut plan = Plan::<_, String>::new();
    for (name, takes) in [("slow", 9), ("fast", 1)] {
        plan.add(name, [], move |[]| async move {
            sleep(secs(takes)).await;
            Ok(Duration::ZERO)
        });
    }
    plan.add("after fast", ["fast"], async |[_]| Ok(start.elapsed()));
    plan.run().await.unwrap();
    assert_eq!(plan.output("after fast"), Some(&secs(1)));
}

#[tokio::test(start_paused = true)]
async fn a_subtask_may_itself_retry() {
    scripted! {
        #[retry(max = 2, backoff = "fixed", base = "1s", jitter = "none")]
        async fn fetch(server: &testing::Script<u32, Failure>) -> Result<u32, Failure> = server.next();
    }

    let server = testing::fail_times(2, TRANSIENT).then(3);
    let start = Instant::now();
    let mut plan = Plan::local();
    plan.add("fetch", [], async |[]| fetch(&server).await);
    plan.add("double", ["fetch"], async |[fetched]| Ok(*fetched * 2));
    let summary = plan.run().await.unwrap();
    assert_eq!((summary.executions, plan.is_empty()), (2, false));
    assert_eq!(plan.output("double"), Some(&6));
    assert_eq!(start.elapsed(), secs(2));
}

#[tokio::test]
async fn an_empty_plan_is_complete() {
    let mut plan = Plan::<(), String>::default();
    assert!(plan.is_empty());
    let summary = plan.run().await.unwrap();
    assert!(summary.is_complete());
    assert_eq!(summary.to_string(), "0 completed; 0 executions");
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
    world.add(&mut plan, "new");
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
            1 | 2 | 4 => resume_unwind(Box::new("b")), // Prints nothing.
            3 => Err("busy"),
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
    let rounds = plan.run_until(EXACT.on(|_: &&str| true), complete);
    assert!(AssertUnwindSafe(rounds).catch_unwind().await.is_err());
    let expected = "1 completed; 2 pending: b, slow; 5 executions";
    assert_eq!(plan.summary().to_string(), expected);
    assert_eq!(plan.run().await.unwrap().failed, ["b"]);
    let outcome = AssertUnwindSafe(plan.retry_failed()).catch_unwind().await;
    assert!(outcome.is_err());
    assert_eq!(plan.error("b"), Some(&"busy"));
    assert!(plan.summary().dead_ends.is_empty());
    let summary = plan.retry_failed().await.unwrap();
    assert!(summary.is_complete());
    assert_eq!(summary.executions, 1 + 5 + 3);
}
