//! Plans that are run by another executor, which decides when subtasks start and in which order they complete.

use support::prelude::*;

use crate::plan::{LocalPlan, World};

const DIAMOND: &str = "d: b c; b: a; c: a; a; e";

fn names(names: &[Arc<str>]) -> Vec<&str> {
    names.iter().map(|name| &**name).collect()
}

/// Completes a subtask with its name in upper case as the output.
fn complete(plan: &mut LocalPlan<'_>, name: &str) -> Vec<Arc<str>> {
    plan.complete(name, Ok(name.to_uppercase())).unwrap()
}

#[test]
fn each_completion_returns_the_subtasks_that_are_now_ready() {
    let world = World::default();
    let mut plan = world.plan(DIAMOND);
    // In the order in which they were added, running or not.
    assert_eq!(names(&plan.ready().unwrap()), ["a", "e"]);
    assert_eq!(names(&complete(&mut plan, "a")), ["b", "c"]);
    assert_eq!(names(&plan.ready().unwrap()), ["b", "c", "e"]);
    assert!(complete(&mut plan, "c").is_empty());
    assert!(complete(&mut plan, "e").is_empty());
    assert_eq!(names(&complete(&mut plan, "b")), ["d"]);
    assert!(complete(&mut plan, "d").is_empty());
    assert!(plan.ready().unwrap().is_empty());
    assert!(world.executed().is_empty());
    assert_eq!(plan.summary().to_string(), "5 completed; 5 executions");
    // One that takes an output twice is ready once.
    let mut plan = world.plan("square: n n; n");
    assert_eq!(names(&complete(&mut plan, "n")), ["square"]);
}

#[tokio::test]
async fn one_subtask_runs_alone_and_changes_nothing() {
    let world = World::default();
    let mut plan = world.plan(DIAMOND);
    for name in ["a", "b", "c"] {
        complete(&mut plan, name);
    }
    // Twice at once, and one of them dropped.
    drop(plan.start("d").unwrap());
    let (first, second) = (plan.start("d").unwrap(), plan.start("d").unwrap());
    assert_eq!(first.await.unwrap(), "d(B C)");
    assert_eq!(second.await.unwrap(), "d(B C)");
    assert_eq!(world.executed(), ["d", "d"]);
    assert_eq!(plan.summary().pending, ["d", "e"]);
    assert_eq!(plan.summary().executions, 3);
}

#[test]
fn failures_block_heal_and_become_dead_ends() {
    let world = World::default();
    let mut plan = world.plan("a; b: a; c");
    let recording = testing::record();
    assert!(plan.complete("a", Err("busy".into())).unwrap().is_empty());
    assert!(plan.complete("c", Err("busy".into())).unwrap().is_empty());
    assert_eq!(plan.summary().blocked, ["b"]);
    // The executor retries them explicitly; `ready` doesn't return them.
    assert!(plan.ready().unwrap().is_empty());
    assert!(plan.start("a").is_ok());
    assert_eq!(names(&complete(&mut plan, "a")), ["b"]);
    plan.complete("c", Err("gone".into())).unwrap();
    assert_eq!(plan.summary().dead_ends, ["c"]);
    assert_eq!(plan.error("c").unwrap(), "gone");
    let expected = [
        "failed plan.a attempt=1 error=busy",
        "failed plan.c attempt=1 error=busy",
        "recovered plan.a attempt=2",
        "dead end plan.c attempt=2 error=gone reason=exhausted",
    ];
    assert_eq!(recording.lines(), expected);
}

#[test]
fn nothing_completes_twice_or_too_early() {
    let world = World::default();
    let mut plan = world.plan(DIAMOND);
    complete(&mut plan, "a");
    for (name, expected) in rows! {
        "a", "`a` has already completed";
        "d", "`d` can't run before `b`, which has not completed";
        "f", "there is no subtask `f`";
    } {
        let before = plan.summary();
        assert_eq!(plan.start(name).err().unwrap().to_string(), expected);
        let error = plan.complete(name, Ok("X".into())).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(plan.summary(), before);
    }
    assert_eq!(plan.output("a").unwrap(), "A");
    let error = world.plan("search").complete("serach", Ok("X".into()));
    let expected = "there is no subtask `serach`; did you mean `search`?";
    assert_eq!(error.unwrap_err().to_string(), expected);
}

#[tokio::test]
async fn a_driven_plan_runs_only_by_steps() {
    let world = World::default();
    let mut plan = world.plan(DIAMOND).driven();
    let refusal = "another executor drives the plan: use `ready`, `start` and `complete`";
    complete(&mut plan, "a");
    assert_eq!(plan.run().await.unwrap_err().to_string(), refusal);
    assert_eq!(plan.retry_failed().await.unwrap_err().to_string(), refusal);
    let policy = Policy::none().on(|_: &String| true);
    let end = plan.run_until(policy, async |_| Validity::Valid).await;
    assert_eq!(end.unwrap_err().to_string(), refusal);
    assert!(world.executed().is_empty());
    assert_eq!(names(&plan.ready().unwrap()), ["b", "c", "e"]);
    assert_eq!(plan.start("b").unwrap().await.unwrap(), "b(A)");
}

#[tokio::test]
async fn subtasks_may_be_added_in_between_and_the_rest_run_here() {
    let world = World::default();
    let mut plan = world.plan("a");
    assert!(complete(&mut plan, "a").is_empty());
    world.add(&mut plan, "b: a; c: b; d: b");
    assert_eq!(names(&complete(&mut plan, "b")), ["c", "d"]);
    assert!(plan.run().await.unwrap().is_complete());
    assert_eq!(world.executed(), ["c", "d"]);
}

/// A worker has the plan's code, and gets only the subtask's inputs.
#[tokio::test]
async fn another_process_runs_one_subtask() {
    let world = World::default();
    let mut here = world.plan(DIAMOND);
    for name in ["a", "e", "b", "c"] {
        complete(&mut here, name);
    }
    let inputs = serde_json::to_string(&here.inputs("d").unwrap()).unwrap();
    assert_eq!(
        inputs,
        r#"{"version":1,"completed":{"b":"B","c":"C"},"failed":{},"dead_ends":[],"executions":0}"#
    );
    let mut there = world.plan(DIAMOND);
    there.load(serde_json::from_str(&inputs).unwrap()).unwrap();
    let outcome = there.start("d").unwrap().await;
    here.complete("d", outcome).unwrap();
    assert_eq!(here.output("d").unwrap(), "d(B C)");
    assert!(here.summary().is_complete());
    assert!(here.inputs("f").is_err());
}
