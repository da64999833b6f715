//! State, saved as JSON and loaded.

use std::sync::Arc;

use retry_runtime::plan::PlanState;
use retry_runtime::{Plan, Policy, plan::Validity};
use serde::{Deserialize, Serialize};

use crate::World;

const CHAIN: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["b"]), ("d", &["a"])];

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
        r#"{"completed":{"a":"a()","d":"d(a())"},"failed":{"b":"b is busy"},"dead_ends":[],"executions":3}"#
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

#[tokio::test]
async fn dead_ends_and_what_they_block_are_kept() {
    let world = World::failing(&[("b", 9)]);
    let mut plan = world.plan(CHAIN);
    plan.run().await.unwrap();
    plan.retry_failed().await.unwrap();
    let json = serde_json::to_string(&plan.state()).unwrap();
    let mut resumed = world.plan(CHAIN);
    resumed.load(load(&json)).unwrap();
    assert_eq!(resumed.summary(), plan.summary());
    assert_eq!(resumed.summary().dead_ends, ["b"]);
    assert_eq!(resumed.summary().blocked, ["c"]);
    // Saved again it is the same, text of the error included.
    assert_eq!(serde_json::to_string(&resumed.state()).unwrap(), json);
}

#[tokio::test]
async fn loaded_failures_are_retried_by_run_until_and_dead_ends_are_not() {
    for (dead_ends, expected) in [("[]", vec!["b", "c"]), (r#"["b"]"#, vec![])] {
        let world = World::default();
        let mut plan = world.plan(CHAIN);
        let json = format!(
            r#"{{"completed":{{"a":"A","d":"D"}},"failed":{{"b":"busy"}},"dead_ends":{dead_ends},"executions":3}}"#
        );
        plan.load(load(&json)).unwrap();
        let end = plan
            .run_until(
                Policy::none().on(|_: &String| true),
                async |results| match results.output("c") {
                    Some(_) => Validity::Valid,
                    None => Validity::Invalid("no c".into()),
                },
            )
            .await
            .unwrap();
        assert_eq!(world.executed(), expected);
        assert_eq!(end.is_valid(), !expected.is_empty());
    }
}

#[tokio::test]
async fn what_is_new_in_the_code_runs() {
    let world = World::default();
    let mut plan = world.plan(&[("new", &[]), ("a", &["new"]), ("b", &["a", "new"])]);
    plan.load(load(
        r#"{"completed":{"a":"A"},"failed":{},"dead_ends":[],"executions":1}"#,
    ))
    .unwrap();
    assert!(plan.run().await.unwrap().is_complete());
    assert_eq!(world.executed(), ["new", "b"]);
    assert_eq!(plan.output("b").unwrap(), "b(A new())");
}

#[test]
fn names_that_the_plan_does_not_have_are_named_and_nothing_is_loaded() {
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
fn what_is_no_state_is_refused() {
    for (json, expected) in [
        ("{}", "missing field `completed`"),
        (
            r#"{"complete":{}}"#,
            "unknown field `complete`, expected one of",
        ),
        (
            r#"{"completed":{"a":1},"failed":{},"dead_ends":[],"executions":1}"#,
            "expected a string",
        ),
        (
            r#"{"completed":{},"failed":{},"dead_ends":[],"executions":-1}"#,
            "expected u64",
        ),
        (
            r#"{"completed":{},"failed":{},"dead_ends":[]}"#,
            "missing field `executions`",
        ),
        ("[]", "expected the state of a plan"),
    ] {
        let error = serde_json::from_str::<PlanState<String>>(json).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn outputs_may_be_any_type_that_serde_knows() {
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    enum Output {
        Page(String),
        Labels { count: u32 },
    }

    fn plan() -> Plan<'static, Output, String> {
        let mut plan = Plan::new();
        plan.add("page", [], async |[]| Ok(Output::Page("text".into())));
        plan.add("labels", ["page"], async |[_]| {
            Ok(Output::Labels { count: 2 })
        });
        plan
    }

    let mut first = plan();
    first.run().await.unwrap();
    let value = serde_json::to_value(first.state()).unwrap();
    let mut second = plan();
    second.load(serde_json::from_value(value).unwrap()).unwrap();
    assert_eq!(second.output("labels"), Some(&Output::Labels { count: 2 }));
    assert!(Arc::new(second.summary()).is_complete());
}
