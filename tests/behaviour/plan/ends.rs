//! Plans that end early: at the deadline, or when cancelled, dropped or panicking. Completed work is kept.

use std::collections::BTreeSet;

use futures::{FutureExt, join};
use retry_work::plan::{Local, Snapshot};
use support::dropped::{dropped_after, give_way};
use support::prelude::*;

use crate::plan::{EXACT, LocalValidity, World, complete, gave_up, invalid, retryable};

type NumberPlan<'a> = Plan<'a, u32, String, Local<'a, u32, String>>;

const SECOND: Duration = secs(1);

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_hung_subtasks() {
    let recording = testing::record();
    let start = Instant::now();
    let world = World::failing(&[("failed", 1)]).hanging("stuck", 1);
    let mut plan = world.plan("quick; failed; stuck: quick; after: stuck");
    plan.add("slow", ["quick"], async |[_]| {
        sleep(SECOND * 5).await;
        Ok(String::new())
    });
    let policy = EXACT.deadline(SECOND * 30).on(retryable);
    let end = plan.run_until(policy, invalid).await.unwrap();
    assert_eq!(start.elapsed(), SECOND * 30);
    let message = "1 under way at the deadline: stuck";
    assert_eq!(end, gave_up(Reason::Deadline, message));
    assert_eq!(plan.summary().completed, ["quick", "slow"]);
    let summary =
        "2 completed; 1 failed: failed; 1 dead end: failed; 2 pending: stuck, after; 4 executions";
    assert_eq!(plan.summary().to_string(), summary);
    let line = format!("gave up plan attempt=1 max=3 error={message} reason=deadline");
    let lines = recording.lines();
    assert!(lines.contains(&line), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_a_hung_retry_and_validator() {
    let start = Instant::now();
    let world = World::failing(&[("a", 1)]).hanging("a", 2);
    let mut plan = world.plan("a");
    let policy = EXACT.deadline(SECOND * 30).on(retryable);
    let end = plan.run_until(policy, invalid).await.unwrap();
    assert_eq!((start.elapsed(), end.is_valid()), (SECOND * 30, false));
    assert_eq!(plan.error("a").unwrap(), "a is busy");
    assert_eq!(world.executed(), ["a", "a"]);

    let mut plan = world.plan("b");
    let validator = async |_| -> LocalValidity<'_> { pending().await };
    let end = plan.run_until(policy, validator).await.unwrap();
    assert_eq!(start.elapsed(), SECOND * 60);
    let expected = "gave up (deadline): the validator was under way at the deadline";
    assert_eq!(end.to_string(), expected);
    assert_eq!(plan.output("b").unwrap(), "b()");
}

#[tokio::test(start_paused = true)]
async fn subtasks_dropped_at_the_deadline_are_reported_once() {
    let (recording, events) = (testing::record(), testing::Recorder::new());
    let world = World::failing(&[("recovered", 1), ("retried", 1)]);
    let world = world.hanging("begun", 1).hanging("retried", 2);
    let mut plan = world.plan("recovered; begun: recovered; retried");
    let policy = EXACT
        .deadline(SECOND * 30)
        .on(retryable)
        .observe(|event| events.observe(event));
    let end = plan.run_until(policy, invalid).await.unwrap();
    assert!(!end.is_valid());
    let summary =
        "1 completed; 1 failed: retried; 1 dead end: retried; 1 pending: begun; 5 executions";
    assert_eq!(plan.summary().to_string(), summary);
    let lines = recording.lines();
    let recovered = lines.iter().position(|line| line.starts_with("recovered"));
    let expected = [
        "gave up plan.begun attempt=1 error=dropped before it ended reason=deadline",
        "dead end plan.retried attempt=2 error=retried is busy reason=deadline",
        "gave up plan attempt=2 max=3 error=2 under way at the deadline: begun, retried reason=deadline",
        &format!("summary plan: {summary}"),
    ];
    assert_eq!(lines[recovered.unwrap() + 1..], expected);
    let mut events = events.lines();
    events.retain(|line| line.starts_with("gave up"));
    let expected = [
        "gave up plan.begun attempt=1 max=3 error=dropped before it ended reason=deadline",
        "gave up plan.retried attempt=2 max=3 error=retried is busy reason=deadline",
        "gave up plan attempt=2 max=3 error=2 under way at the deadline: begun, retried reason=deadline",
    ];
    assert_eq!(events, expected);
}

#[tokio::test(start_paused = true)]
async fn cancelled_in_a_pause_the_plan_ends() {
    let recording = testing::record();
    let (start, token) = (Instant::now(), CancellationToken::new());
    let world = World::failing(&[("b", 9), ("c", 9)]);
    let mut plan = world.plan("a; b");
    let policy = EXACT.base(SECOND * 30).on(retryable);
    let policy = policy.cancel(token.cancelled());
    let (end, ()) = join!(plan.run_until(policy, invalid), async {
        sleep(SECOND * 5).await;
        token.cancel();
    });
    let expected = "gave up (cancelled): incomplete";
    assert_eq!(end.unwrap().to_string(), expected);
    assert_eq!(start.elapsed(), SECOND * 5);
    assert_eq!(plan.summary().dead_ends, ["b"]);
    let lines = recording.lines();
    assert!(lines.iter().any(|line| line.ends_with("reason=cancelled")));
    // At once if it is already cancelled.
    let policy = EXACT.on(retryable).cancel(token.cancelled());
    plan.add("c", [], async |[]| world.execute("c", &[]));
    let end = plan.run_until(policy, invalid).await.unwrap();
    assert_eq!(end.to_string(), expected);
    assert_eq!(start.elapsed(), SECOND * 5);
}

/// Six subtasks, three after three. Each waits twice, and one fails once.
fn plan<'a>(done: &'a RefCell<Vec<u32>>, failed: &'a Cell<bool>) -> NumberPlan<'a> {
    let mut plan = Plan::local();
    let work = async |number: u32| {
        give_way().await;
        give_way().await;
        if number == 4 && !failed.replace(true) {
            return Err(String::from("busy"));
        }
        done.borrow_mut().push(number);
        Ok(number)
    };
    for (number, name) in (0..).zip(["a", "b", "c"]) {
        plan.add(name, [], async move |[]| work(number).await);
    }
    for (number, name, after) in [(3, "d", "a"), (4, "e", "b"), (5, "f", "c")] {
        plan.add(name, [after], async move |[_]| work(number).await);
    }
    plan
}

async fn complete_later<'a>(
    results: Snapshot<u32>,
) -> Validity<'a, u32, String, Local<'a, u32, String>> {
    give_way().await;
    complete(results).await
}

#[tokio::test(start_paused = true)]
async fn finished_results_are_kept_if_the_future_is_dropped() {
    for polls in 0..200 {
        let (done, failed) = (RefCell::default(), Cell::new(false));
        let mut plan = plan(&done, &failed);
        let policy = EXACT.deadline(SECOND * 60).on(retryable);
        let timer = TimerFn::new(|pause: Duration| async move {
            if pause > SECOND * 9 {
                pending::<()>().await;
            }
            give_way().await;
        });
        let end = dropped_after(polls, plan.run_until(policy.timer(timer), complete_later));
        let outputs: BTreeSet<u32> = plan.outputs().map(|(_, output)| *output).collect();
        assert_eq!(outputs, done.borrow().iter().copied().collect());
        assert_eq!(outputs.len() == 6, plan.summary().is_complete());
        if let Some(end) = end {
            assert!(end.unwrap().is_valid() && polls > 5);
            return;
        }
        // The rest runs, and no subtask runs twice.
        let end = plan.run_until(policy, complete_later).await.unwrap();
        assert!(end.is_valid());
        assert_eq!(done.borrow().len(), 6, "after {polls} polls");
    }
    panic!("the plan did not end");
}

#[tokio::test(start_paused = true)]
async fn finished_results_are_kept_if_a_subtask_panics() {
    let panics = Cell::new(true);
    let mut plan = Plan::local();
    plan.add("a", [], async |[]| Ok::<_, String>(1));
    plan.add("b", ["a"], async |[_]| {
        give_way().await;
        assert!(!panics.get(), "a bug");
        Ok(2)
    });
    plan.add("c", ["a"], async |[_]| Ok(3));
    let policy = EXACT.on(retryable);
    let run = AssertUnwindSafe(plan.run_until(policy, complete_later));
    assert!(run.catch_unwind().await.is_err());
    let summary = plan.summary();
    let expected = (vec!["a".into(), "c".into()], vec!["b".into()]);
    assert_eq!((summary.completed, summary.pending), expected);
    assert_eq!(plan.output("c"), Some(&3));
    panics.set(false);
    let end = plan.run_until(policy, complete_later).await.unwrap();
    assert!(end.is_valid());
    assert_eq!(plan.summary().executions, 4);
}

#[test]
fn a_plan_that_never_sleeps_gives_way_once_for_each_round() {
    for (polls, ends) in [(2, false), (3, true)] {
        let world = World::failing(&[("a", 9)]);
        let mut plan = world.plan("a");
        let policy = Policy::none().max(2).on(retryable);
        let timer = TimerFn::new(|_| ready(()));
        let end = dropped_after(polls, plan.run_until(policy.timer(timer), invalid));
        assert_eq!(end.is_some(), ends);
    }
}
