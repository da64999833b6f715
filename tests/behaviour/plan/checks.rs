//! Plans that can't run, and their errors.

use retry_work::Plan;

use crate::plan::World;

fn message(subtasks: &'static str) -> String {
    let world = World::default();
    let plan = world.plan(subtasks);
    let error = plan.check().unwrap_err();
    error.to_string()
}

#[test]
fn a_cycle_is_named_in_full() {
    let cycle = "each subtask waits for the next and none can begin: ";
    assert_eq!(message("a: a"), format!("{cycle}a → a"));
    let subtasks = "root; leaf: x; c: a; a: root b; x: c; b: root c";
    assert_eq!(message(subtasks), format!("{cycle}c → a → b → c"));
}

#[test]
fn an_unknown_dependency_is_named_with_its_subtask() {
    let expected = "extract → Search: there is no subtask `Search`; did you mean `search`?";
    assert_eq!(message("search; extract: search Search"), expected);
    let expected = "search → zzz: there is no subtask `zzz`; add it, or remove the dependency";
    assert_eq!(message("search: zzz"), expected);
    // The first of several.
    let expected = "b → x1: there is no subtask `x1`; add it, or remove the dependency";
    assert_eq!(message("a; b: a x1 x2; c: x3"), expected);
}

#[test]
fn a_name_given_twice_is_named_with_its_places() {
    assert_eq!(
        message("a; b; c; b: a"),
        "the subtasks added as number 2 and number 4 are both named `b`: give each a name of its own"
    );
}

#[tokio::test]
async fn a_plan_that_cannot_run_executes_nothing_and_keeps_what_it_has() {
    let world = World::failing(&[("b", 9)]);
    let mut plan = world.plan("a; b");
    plan.run().await.unwrap();
    world.executed();
    plan.add("c", ["nothing"], async |[_]| world.execute("c", &[]));
    assert!(plan.run().await.is_err());
    assert!(plan.retry_failed().await.is_err());
    assert!(world.executed().is_empty());
    assert_eq!(plan.output("a").unwrap(), "a()");
    let summary = plan.summary();
    assert_eq!(summary.failed, ["b"]);
    assert_eq!(summary.pending, ["c"]);
    // A missing subtask may still be added.
    plan.add("nothing", [], async |[]| world.execute("nothing", &[]));
    plan.run().await.unwrap();
    assert_eq!(world.executed(), ["nothing", "c"]);
}

#[test]
fn errors_are_errors() {
    let mut plan = Plan::<(), String>::new();
    plan.add("a", ["a"], async |[_]| Ok(()));
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(plan.check().unwrap_err());
    assert!(error.source().is_none());
    assert!(format!("{plan:?}").starts_with("Plan(plan: 0 completed; 1 pending: a"));
}
