//! State, saved as JSON and loaded.

use retry_work::plan::{PlanState, Snapshot};
use support::prelude::*;

use crate::plan::{EXACT, LocalPlan, LocalValidity, World, retryable};

const CHAIN: &str = "a; b: a; c: b; d: a";

fn load(json: &str) -> PlanState<String> {
    serde_json::from_str(json).unwrap()
}

#[tokio::test]
async fn a_loaded_plan_runs_nothing_that_had_succeeded() {
    let world = World::failing(&[("b", 1)]);
    let mut plan = world.plan(CHAIN);
    plan.run().await.unwrap();
    let json = serde_json::to_string(&plan.state()).unwrap();
    assert_eq!(
        json,
        r#"{"version":1,"completed":{"a":"a()","d":"d(a())"},"failed":{"b":"b is busy"},"dead_ends":[],"executions":3}"#
    );
    world.executed();

    let mut resumed = world.plan(CHAIN);
    resumed.load(load(&json)).unwrap();
    assert_eq!(resumed.summary(), plan.summary());
    assert_eq!(resumed.output("d").unwrap(), "d(a())");
    assert_eq!(resumed.error("b"), None);
    // A run leaves failures alone, loaded ones too.
    resumed.run().await.unwrap();
    assert!(world.executed().is_empty());
    let summary = resumed.retry_failed().await.unwrap();
    assert_eq!(world.executed(), ["b", "c"]);
    assert!(summary.is_complete());
    assert_eq!(summary.executions, 5);
    assert_eq!(resumed.output("c").unwrap(), "c(b(a()))");
}

/// Valid once `c` has an output.
async fn with_c<'a>(results: Snapshot<String>) -> LocalValidity<'a> {
    match results.output("c") {
        Some(_) => Validity::Valid,
        None => Validity::Invalid("no c".into()),
    }
}

/// Unknown fields are ignored.
#[tokio::test]
async fn loaded_failures_are_retried_by_run_until_and_dead_ends_are_not() {
    for (dead_ends, expected) in [("[]", vec!["b", "c"]), (r#"["b"]"#, vec![])] {
        let world = World::default();
        let mut plan = world.plan(CHAIN);
        let json = format!(
            r#"{{"completed":{{"a":"A","d":"D"}},"failed":{{"b":"busy"}},"dead_ends":{dead_ends},"executions":3,
            "unknown":[1,{{"zone":"Z"}}]}}"#
        );
        plan.load(load(&json)).unwrap();
        let end = plan.run_until(Policy::none().on(retryable), with_c);
        let end = end.await.unwrap();
        assert_eq!(world.executed(), expected);
        assert_eq!(end.is_valid(), !expected.is_empty());
    }
}

/// `b` was saved as failed, and depends on `new` since.
fn after_a_change_of_the_code(world: &World) -> LocalPlan<'_> {
    let mut plan = world.plan("new; a; b: a new; c: b");
    let json = r#"{"completed":{"a":"A"},"failed":{"b":"busy"},"dead_ends":[],"executions":2}"#;
    plan.load(load(json)).unwrap();
    plan
}

/// The text that a failure is saved with.
fn text(plan: &LocalPlan<'_>, name: &str) -> Option<String> {
    let state = serde_json::to_value(plan.state()).unwrap();
    Some(state["failed"].get(name)?.as_str()?.into())
}

#[tokio::test]
async fn a_failure_keeps_its_text_until_it_runs_again() {
    let world = World::default();
    let mut plan = after_a_change_of_the_code(&world);
    let recording = testing::record();
    // Its dependency did not run, so it can't run either, and there is nothing else to retry.
    let summary = plan.retry_failed().await.unwrap();
    assert!(world.executed().is_empty());
    let expected = "1 completed; 1 failed: b; 1 blocked: c; 1 pending: new; 2 executions";
    assert_eq!(recording.lines(), [format!("summary plan: {summary}")]);
    assert_eq!(summary.to_string(), expected);
    assert_eq!(text(&plan, "b").unwrap(), "busy");
    plan.run().await.unwrap();
    assert_eq!(world.executed(), ["new"]);
    assert_eq!(text(&plan, "b").unwrap(), "busy");
    assert!(plan.retry_failed().await.unwrap().is_complete());
    assert_eq!(world.executed(), ["b", "c"]);
    assert_eq!(text(&plan, "b"), None);
}

#[tokio::test]
async fn a_success_does_not_run_again_even_with_new_dependencies() {
    let world = World::default();
    let mut plan = world.plan("a; b: a; c: b");
    let json = r#"{"completed":{"b":"B"},"failed":{"a":"busy"},"dead_ends":[],"executions":2}"#;
    plan.load(load(json)).unwrap();
    let summary = plan.retry_failed().await.unwrap();
    assert_eq!(world.executed(), ["a"]);
    assert_eq!(summary.pending, ["c"]);
    assert!(plan.run().await.unwrap().is_complete());
    assert_eq!(plan.output("c").unwrap(), "c(B)");
}

#[tokio::test]
async fn a_failure_is_retried_after_the_failure_that_it_depends_on() {
    for (failures, executed, failed) in [
        (0, vec!["new", "b", "c"], vec![]),
        (1, vec!["new"], vec!["new", "b"]),
    ] {
        let world = World::failing(&[("new", failures)]);
        let mut plan = after_a_change_of_the_code(&world);
        let json = r#"{"completed":{},"failed":{"new":"gone"},"dead_ends":[],"executions":1}"#;
        plan.load(load(json)).unwrap();
        let recording = testing::record();
        let summary = plan.retry_failed().await.unwrap();
        let expected = "retrying plan error=2 of 4 subtasks failed: new, b";
        assert_eq!(recording.lines()[0], expected);
        // Its attempts before it was saved count as one.
        assert!(recording.lines()[1].contains(" plan.new attempt=2"));
        assert_eq!(world.executed(), executed);
        assert_eq!(summary.failed, failed);
        // Only what ran and failed again.
        assert_eq!(summary.dead_ends, failed[..failures as usize]);
    }
}

#[tokio::test(start_paused = true)]
async fn run_until_retries_a_failure_once_its_dependency_succeeded() {
    let world = World::failing(&[("new", 1)]);
    let start = Instant::now();
    let mut plan = after_a_change_of_the_code(&world);
    let end = plan.run_until(EXACT.on(retryable), with_c).await.unwrap();
    assert!(end.is_valid());
    assert_eq!(world.executed(), ["new", "new", "b", "c"]);
    assert_eq!(start.elapsed(), secs(1));

    // If that is a dead end, there is nothing to wait for.
    let hopeless = World::failing(&[("new", u32::MAX)]);
    let start = Instant::now();
    let mut plan = after_a_change_of_the_code(&hopeless);
    let policy = EXACT.on(|_: &String| false);
    let end = plan.run_until(policy, with_c).await.unwrap();
    assert_eq!(end.to_string(), "gave up (not retryable): no c");
    assert_eq!(hopeless.executed(), ["new"]);
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(plan.summary().dead_ends, ["new", "b"]);
    assert_eq!(text(&plan, "b").unwrap(), "busy");
}

#[test]
fn unknown_names_are_reported_and_nothing_is_loaded() {
    let world = World::default();
    let mut plan = world.plan(CHAIN);
    let state = load(
        r#"{"completed":{"a":"A","x":"X"},"failed":{"y":"busy"},"dead_ends":["y","z"],"executions":3}"#,
    );
    assert_eq!(state.names().collect::<Vec<_>>(), ["a", "x", "y", "z"]);
    assert_eq!(
        plan.load(state).unwrap_err().to_string(),
        "the state has subtasks that the plan doesn't have: x, y, z; add them before it is loaded"
    );
    assert_eq!(plan.output("a"), None);
    assert_eq!(plan.summary().executions, 0);
}

#[test]
fn invalid_states_are_rejected() {
    for (json, expected) in rows! {
        "{}", "missing field `completed`";
        r#"{"version":2,"completed":{},"failed":{},"dead_ends":[],"executions":1}"#,
            "version 2 of a plan's state is unknown: the latest is 1";
        r#"{"version":0,"completed":{},"failed":{},"dead_ends":[],"executions":1}"#,
            "version 0 of a plan's state is unknown: the latest is 1";
        r#"{"version":1,"version":1}"#, "duplicate field `version`";
        r#"{"executions":1,"executions":1}"#, "duplicate field `executions`";
        r#"{"completed":{"a":"A","b":"B","a":"C"},"failed":{},"dead_ends":[],"executions":3}"#,
            "`a` occurs twice";
        r#"{"completed":{},"failed":{"a":"gone","a":"busy"},"dead_ends":[],"executions":3}"#,
            "`a` occurs twice";
        r#"{"completed":{"a":"A"},"failed":{"a":"busy"},"dead_ends":[],"executions":3}"#,
            "`a` has both completed and failed";
        r#"{"completed":{"a":1},"failed":{},"dead_ends":[],"executions":1}"#, "expected a string";
        r#"{"completed":{},"failed":{},"dead_ends":[],"executions":-1}"#, "expected u64";
        r#"{"completed":{},"failed":{},"dead_ends":[]}"#, "missing field `executions`";
        "[]", "expected the state of a plan";
    } {
        let error = serde_json::from_str::<PlanState<String>>(json).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
