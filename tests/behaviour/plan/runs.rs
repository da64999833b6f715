//! The executions of a run, their order and concurrency.

use support::dropped::OnDrop;
use support::prelude::*;

use crate::plan::World;

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
    let mut plan = Plan::<Arc<NotClone>, String>::new();
    let value = Arc::new(NotClone);
    let source = Arc::clone(&value);
    plan.add("a", [], move |[]| {
        let source = Arc::clone(&source);
        async move { Ok(source) }
    });
    plan.add("b", ["a"], async |[a]| Ok(Arc::clone(&*a)));
    plan.add("c", ["a", "b"], async |[_, b]| Ok(Arc::clone(&*b)));
    plan.run().await.unwrap();
    // One reference here, one in the closure, and three in outputs.
    assert_eq!(Arc::strong_count(&value), 5);
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

#[tokio::test]
async fn subtasks_added_after_a_run_run_in_the_next() {
    let world = World::failing(&[]);
    let mut plan = world.plan("a");
    plan.run().await.unwrap();
    plan.add("b", ["a"], async |[_]| world.execute("b", &[]));
    assert_eq!(plan.summary().pending, ["b"]);
    assert_eq!(plan.run().await.unwrap().executions, 2);
    assert_eq!(world.executed(), ["a", "b"]);
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
async fn dropping_a_run_keeps_what_completed_and_leaves_the_rest_to_run() {
    let (world, dropped) = (World::default(), Cell::new(0));
    let mut plan = world.plan("a");
    plan.add("b", ["a"], async |[_]| {
        let _alive = OnDrop(|| dropped.set(dropped.get() + 1));
        let outcome = world.execute("b", &[]);
        if dropped.get() == 0 {
            pending::<()>().await;
        }
        outcome
    });
    plan.add("c", ["b"], async |[_]| world.execute("c", &[]));
    assert!(timeout(secs(1), plan.run()).await.is_err());
    assert_eq!(dropped.get(), 1, "what was under way is dropped");
    let summary = plan.summary();
    assert_eq!(summary.completed, ["a"]);
    let expected = "1 completed; 2 pending: b, c; 2 executions";
    assert_eq!(summary.to_string(), expected);
    let summary = plan.run().await.unwrap();
    assert_eq!(summary.to_string(), "3 completed; 4 executions");
    assert_eq!(world.executed(), ["a", "b", "b", "c"]);
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
