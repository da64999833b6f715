//! Plans that can't run, and their errors.

use support::prelude::*;

use crate::plan::{EXACT, LocalValidity, World, retryable};

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
        let mut plan = world.plan(subtasks);
        let completed = plan.complete("a", Ok("A".into()));
        for error in [plan.check().err(), plan.ready().err(), completed.err()] {
            let error: Box<dyn Error + Send + Sync> = error.expect("an error").into();
            assert_eq!(error.to_string(), expected);
            assert!(error.source().is_none());
        }
        assert_eq!(plan.output("a"), None);
        let shown = format!("Plan(plan: {}", plan.summary());
        assert!(format!("{plan:?}").starts_with(&shown));
    }
}

#[tokio::test]
async fn a_plan_that_cannot_run_executes_nothing_and_keeps_what_it_has() {
    let world = World::failing(&[("b", 9)]);
    let mut plan = world.plan("a; b");
    plan.run().await.unwrap();
    world.executed();
    world.add(&mut plan, "c: nothing");
    assert!(plan.run().await.is_err());
    assert!(plan.retry_failed().await.is_err());
    let validate = async |_| -> LocalValidity<'_> { panic!("validated") };
    assert!(plan.run_until(EXACT.on(retryable), validate).await.is_err());
    assert!(world.executed().is_empty());
    assert_eq!(plan.output("a").unwrap(), "a()");
    let summary = "1 completed; 1 failed: b; 1 pending: c; 2 executions";
    assert_eq!(plan.summary().to_string(), summary);
    // A missing subtask may still be added.
    world.add(&mut plan, "nothing");
    plan.run().await.unwrap();
    assert_eq!(world.executed(), ["nothing", "c"]);
}
