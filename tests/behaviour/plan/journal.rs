//! The journal of a running plan, and plans that continue from it.

use futures::FutureExt;
use retry_work::plan::PlanState;
use support::prelude::*;

use crate::plan::{EXACT, LocalPlan, World, invalid, retryable};

const CHAIN: &str = "a; b: a; c: b; d: a";

/// Lines that are appended to.
#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Lines {
    fn append(&self, change: &PlanState<String>) {
        let line = serde_json::to_string(change).unwrap();
        self.0.lock().unwrap().push(line);
    }

    fn load(&self, plan: &mut LocalPlan<'_>) {
        for line in &*self.0.lock().unwrap() {
            plan.load(serde_json::from_str(line).unwrap()).unwrap();
        }
    }
}

#[tokio::test]
async fn each_end_is_a_change_and_all_of_them_the_state() {
    let world = World::failing(&[("b", 2)]);
    let lines = Lines::default();
    let mut plan = world.plan(CHAIN).journal(|change| lines.append(&change));
    plan.run().await.unwrap();
    plan.retry_failed().await.unwrap();
    let expected = [
        r#"{"version":1,"completed":{"a":"a()"},"failed":{},"dead_ends":[],"executions":1}"#,
        r#"{"version":1,"completed":{},"failed":{"b":"b is busy"},"dead_ends":[],"executions":2}"#,
        r#"{"version":1,"completed":{"d":"d(a())"},"failed":{},"dead_ends":[],"executions":0}"#,
        r#"{"version":1,"completed":{},"failed":{"b":"b is busy"},"dead_ends":["b"],"executions":1}"#,
    ];
    assert_eq!(*lines.0.lock().unwrap(), expected);
    world.executed();
    let mut resumed = world.plan(CHAIN);
    lines.load(&mut resumed);
    assert_eq!(resumed.summary(), plan.summary());
    assert!(resumed.retry_failed().await.unwrap().is_complete());
    assert_eq!(world.executed(), ["b", "c"]);
}

/// `slow` never ends, and with it the round.
#[tokio::test(start_paused = true)]
async fn a_non_retryable_failure_is_a_dead_end_for_the_next_program() {
    let lines = Lines::default();
    let world = World::failing(&[("gone", 9)]);
    let world = world.hanging("slow", 1).hanging("slow", 2);
    let mut first = world
        .plan("gone; slow")
        .journal(|change| lines.append(&change));
    let mut second = world.plan("gone; slow");
    for plan in [&mut first, &mut second] {
        lines.load(plan);
        let policy = EXACT.on(|_: &String| false);
        let crash = timeout(secs(5), plan.run_until(policy, invalid));
        assert!(crash.await.is_err());
    }
    assert_eq!(world.executed(), ["gone", "slow", "slow"]);
    assert_eq!(second.summary().dead_ends, ["gone"]);
}

#[tokio::test(start_paused = true)]
async fn a_crash_loses_only_running_subtasks() {
    let lines = Lines::default();
    let world = World::default().hanging("c", 1).hanging("d", 1);
    let plan = || world.plan(CHAIN).journal(|change| lines.append(&change));
    let mut first = plan();
    assert!(timeout(secs(1), first.run()).await.is_err());
    drop(first);
    assert_eq!(world.executed(), ["a", "b", "d", "c"]);
    let mut second = plan();
    lines.load(&mut second);
    second.run().await.unwrap();
    assert_eq!(world.executed(), ["c", "d"]);
    // Loaded entries are not written again.
    assert_eq!(lines.0.lock().unwrap().len(), 4);
    assert_saved(&world, &lines, &second);
}

/// Checks that a journal has all that a plan did.
fn assert_saved(world: &World, lines: &Lines, plan: &LocalPlan<'_>) {
    let mut resumed = world.plan(CHAIN);
    lines.load(&mut resumed);
    assert_eq!(resumed.summary(), plan.summary());
}

#[tokio::test(start_paused = true)]
async fn giving_up_by_the_policy_is_a_change() {
    let world = World::failing(&[("b", 9)]);
    let lines = Lines::default();
    let mut plan = world.plan(CHAIN).journal(|change| lines.append(&change));
    let policy = EXACT.max(1).on(retryable);
    assert!(!plan.run_until(policy, invalid).await.unwrap().is_valid());
    assert_eq!(plan.summary().dead_ends, ["b"]);
    assert_saved(&world, &lines, &plan);
}

#[test]
fn steps_of_another_executor_are_changes() {
    let world = World::default();
    let lines = Lines::default();
    let mut plan = world.plan(CHAIN).journal(|change| lines.append(&change));
    plan.complete("a", Ok("A".into())).unwrap();
    plan.complete("b", Err("busy".into())).unwrap();
    assert_saved(&world, &lines, &plan);
}

#[test]
fn a_panic_while_writing_leaves_the_plan_as_it_is() {
    let world = World::default();
    let mut plan = world.plan(CHAIN).journal(|_| panic!("the disk is full"));
    let run = AssertUnwindSafe(plan.run()).catch_unwind();
    assert!(futures::executor::block_on(run).is_err());
    assert_eq!(plan.output("a").unwrap(), "a()");
    let run = catch_unwind(AssertUnwindSafe(|| plan.summary()));
    assert_eq!(run.unwrap().completed, ["a"]);
}
