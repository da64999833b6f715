//! `run_until`: subtasks that the validator requests.

use retry_work::plan::Snapshot;
use support::prelude::*;

use crate::plan::{EXACT, World, gave_up, retryable};

#[tokio::test(start_paused = true)]
async fn missing_subtasks_are_added_once_no_failed_one_is_left() {
    let world = World::failing(&[("b", 1), ("label", 1)]);
    let mut plan = world.plan("a; b: a");
    let seen = RefCell::new(Vec::new());
    let end = plan.run_until(EXACT.on(retryable), async |results| {
        let summary = results.summary();
        seen.borrow_mut()
            .push((summary.completed.len(), summary.failed.len()));
        if results.output("label").is_some() {
            return Validity::Valid;
        }
        world.missing("label: extract; extract: b")
    });
    assert!(end.await.unwrap().is_valid());
    // The rounds that retried `b` and `label` added nothing.
    let expected = ["a", "b", "b", "extract", "label", "label"];
    assert_eq!(world.executed(), expected);
    assert_eq!(seen.into_inner(), [(1, 1), (2, 0), (3, 1), (4, 0)]);
    assert_eq!(plan.output("label").unwrap(), "label(extract(b(a())))");
}

#[tokio::test(start_paused = true)]
async fn rounds_that_add_subtasks_count_too() {
    let world = World::default();
    let mut plan = world.plan("");
    let names = ["1", "2", "3", "4", "5"];
    let end = plan.run_until(EXACT.max(2).on(retryable), async |results| {
        world.missing(names[results.summary().completed.len()])
    });
    assert_eq!(end.await.unwrap(), gave_up(Reason::Exhausted, "missing: 3"));
    assert_eq!(world.executed(), ["1", "2"]);
    assert_eq!(plan.len(), 2);
}

#[tokio::test]
async fn a_missing_subtask_that_failed_is_not_added_again() {
    let world = World::failing(&[("extract", u32::MAX)]);
    let mut plan = world.plan("a");
    let policy = Policy::none().on(|_: &String| false);
    let end = plan.run_until(policy, async |results| match results.output("label") {
        Some(_) => Validity::Valid,
        None => world.missing("extract: a; label: extract"),
    });
    let expected = gave_up(Reason::NotRetryable, "missing: extract, label");
    assert_eq!(end.await.unwrap(), expected);
    assert_eq!(world.executed(), ["a", "extract"]);
    let summary = "1 completed; 1 failed: extract; 1 dead end: extract; 1 blocked: label";
    assert_eq!(
        plan.summary().to_string(),
        format!("{summary}; 2 executions")
    );
}

#[tokio::test]
async fn missing_subtasks_that_cannot_run_are_an_error_and_not_added() {
    let world = World::default();
    for (missing, expected) in rows! {
        "a: b",
            "the subtasks added as number 1 and number 3 are both named `a`: give each a unique name";
        "c: z", "c → z: there is no subtask `z`; add it, or remove the dependency";
        "c: c", "each subtask waits for the next and none can begin: c → c";
    } {
        let mut plan = world.plan("a; b: a");
        let recording = testing::record();
        let policy = Policy::none().on(retryable);
        let error = plan.run_until(policy, async |_| world.missing(missing));
        assert_eq!(error.await.unwrap_err().to_string(), expected);
        // No round was announced, but the end.
        let gave_up = format!("gave up plan attempt=1 max=3 error={expected} reason=not retryable");
        let summary = "summary plan: 2 completed; 2 executions";
        assert_eq!(recording.lines()[2..], [&*gave_up, summary]);
        assert_eq!(plan.len(), 2);
        assert!(plan.run().await.unwrap().is_complete());
        assert_eq!(plan.output("a").unwrap(), "a()");
    }
}

#[tokio::test(start_paused = true)]
async fn a_subtask_that_cannot_run_is_not_added_and_costs_no_round() {
    let world = World::failing(&[("a", u32::MAX)]);
    let start = Instant::now();
    let mut plan = world.plan("a; b: a; c");
    let policy = EXACT.on(|_: &String| false);
    for missing in ["d: a; e: d", "d: c b; e: d c"] {
        let end = plan.run_until(policy, async |_| world.missing(missing));
        let end = end.await.unwrap();
        assert_eq!(end.to_string(), "gave up (not retryable): missing: d, e");
        assert_eq!(plan.len(), 3);
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(world.executed(), ["a", "c"]);
    // One that can run takes the others with it.
    let end = plan.run_until(policy, async |results| match results.output("e") {
        Some(_) => Validity::Valid,
        None => world.missing("d: a; e: c"),
    });
    assert!(end.await.unwrap().is_valid());
    assert_eq!(world.executed(), ["e"]);
    assert_eq!(plan.summary().blocked, ["b", "d"]);
}

#[tokio::test(start_paused = true)]
async fn subtasks_added_before_a_drop_run_in_the_next_run() {
    let world = World::default();
    let mut plan = world.plan("a");
    let validate = async |results: Snapshot<String>| match results.output("b") {
        Some(_) => Validity::Valid,
        None => world.missing("b: a"),
    };
    let run = plan.run_until(EXACT.on(retryable), validate);
    assert!(timeout(millis(500), run).await.is_err());
    assert_eq!(plan.summary().pending, ["b"]);
    let end = plan.run_until(EXACT.on(retryable), validate).await.unwrap();
    assert!(end.is_valid());
    assert_eq!(world.executed(), ["a", "b"]);
}
