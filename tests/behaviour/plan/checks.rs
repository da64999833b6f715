//! Plans that can't run, and their errors.

use support::prelude::*;

use crate::plan::World;

#[test]
fn the_message_names_the_subtasks_that_cannot_run() {
    for (subtasks, expected) in rows! {
        "a: a", "each subtask waits for the next and none can begin: a → a";
        // In full.
        "root; leaf: x; c: a; a: root b; x: c; b: root c",
            "each subtask waits for the next and none can begin: c → a → b → c";
        "search; extract: search Search",
            "extract → Search: there is no subtask `Search`; did you mean `search`?";
        "search: zzz", "search → zzz: there is no subtask `zzz`; add it, or remove the dependency";
        // The first of several.
        "a; b: a x1 x2; c: x3",
            "b → x1: there is no subtask `x1`; add it, or remove the dependency";
        "a; b; c; b: a",
            "the subtasks added as number 2 and number 4 are both named `b`: give each a unique name";
    } {
        let world = World::default();
        let error = world.plan(subtasks).check().unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
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
    let summary = "1 completed; 1 failed: b; 1 pending: c; 2 executions";
    assert_eq!(plan.summary().to_string(), summary);
    // A missing subtask may still be added.
    plan.add("nothing", [], async |[]| world.execute("nothing", &[]));
    plan.run().await.unwrap();
    assert_eq!(world.executed(), ["nothing", "c"]);
}

#[test]
fn errors_are_errors() {
    let mut plan = Plan::<(), String>::new();
    plan.add("a", ["a"], async |[_]| Ok(()));
    let error: Box<dyn Error + Send + Sync> = Box::new(plan.check().unwrap_err());
    assert!(error.source().is_none());
    assert!(format!("{plan:?}").starts_with("Plan(plan: 0 completed; 1 pending: a"));
}
