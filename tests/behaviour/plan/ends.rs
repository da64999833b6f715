//! Plans that end early: at the deadline, or when dropped. Completed work is kept.

use std::collections::BTreeSet;

use retry_work::plan::{Local, Snapshot};
use support::dropped::{dropped_after, give_way};
use support::prelude::*;

use crate::plan::{EXACT, LocalValidity, World, complete, gave_up, invalid, retryable};

type NumberPlan<'a> = Plan<'a, u32, String, Local<'a, u32, String>>;

const SECOND: Duration = secs(1);

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_a_hung_validator() {
    let (world, start) = (World::default(), Instant::now());
    let mut plan = world.plan("a");
    let policy = EXACT.deadline(SECOND * 30).on(retryable);
    let validator = async |_| -> LocalValidity<'_> { pending().await };
    let end = plan.run_until(policy, validator).await.unwrap();
    assert_eq!(start.elapsed(), SECOND * 30);
    let expected = "gave up (deadline): the validator was under way at the deadline";
    assert_eq!(end.to_string(), expected);
    assert_eq!(plan.output("a").unwrap(), "a()");
}

/// Those that failed in the last round are dead ends, too.
#[tokio::test(start_paused = true)]
async fn subtasks_dropped_at_the_deadline_are_reported_once() {
    let (recording, events) = (testing::record(), testing::Recorder::new());
    let start = Instant::now();
    let world = World::failing(&[("recovered", 1), ("retried", 1), ("late", 1)]);
    let world = world.hanging("begun", 1).hanging("retried", 2);
    let mut plan = world.plan("recovered; begun: recovered; retried; late: recovered");
    let policy = EXACT
        .max(1)
        .throttled(Section::new().max(9))
        .deadline(SECOND * 30)
        .on(|_: &String| Verdict::THROTTLED)
        .observe(|event| events.observe(event));
    let end = plan.run_until(policy, invalid).await.unwrap();
    assert_eq!(start.elapsed(), SECOND * 30);
    let message = "2 under way at the deadline: begun, retried";
    assert_eq!(end, gave_up(Reason::Deadline, message));
    let summary = "1 completed; 2 failed: retried, late; 2 dead ends: retried, late; \
        1 pending: begun; 6 executions";
    assert_eq!(plan.summary().to_string(), summary);
    assert_eq!(plan.error("retried").unwrap(), "retried is busy");
    let lines = recording.lines();
    let recovered = lines.iter().position(|line| line.starts_with("recovered"));
    let expected = [
        "failed plan.late attempt=1 error=late is busy",
        "gave up plan.begun attempt=1 error=dropped before it ended reason=deadline",
        "dead end plan.retried attempt=2 error=retried is busy reason=deadline",
        // The policy's `max`, not the section's.
        &format!("gave up plan attempt=2 max=1 error={message} reason=deadline"),
        "dead end plan.late attempt=1 error=late is busy reason=deadline",
        &format!("summary plan: {summary}"),
    ];
    assert_eq!(lines[recovered.unwrap() + 1..], expected);
    let mut events = events.lines();
    events.retain(|line| line.starts_with("gave up"));
    let expected = [
        "gave up plan.begun attempt=1 max=1 error=dropped before it ended reason=deadline",
        "gave up plan.retried attempt=2 max=1 error=retried is busy reason=deadline",
        &format!("gave up plan attempt=2 max=1 error={message} reason=deadline"),
        "gave up plan.late attempt=1 max=1 error=late is busy reason=deadline",
    ];
    assert_eq!(events, expected);
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

#[tokio::test(start_paused = true)]
async fn finished_results_are_kept_if_the_future_is_dropped() {
    for polls in 0..200 {
        let (done, failed) = (RefCell::default(), Cell::new(false));
        let validate = async |results: Snapshot<u32>| {
            give_way().await;
            complete(results).await
        };
        let mut plan = plan(&done, &failed);
        let policy = EXACT.deadline(SECOND * 60).on(retryable);
        let timer = TimerFn::new(|pause: Duration| async move {
            if pause > SECOND * 9 {
                pending::<()>().await;
            }
            give_way().await;
        });
        let end = dropped_after(polls, plan.run_until(policy.timer(timer), validate));
        let outputs: BTreeSet<u32> = plan.outputs().map(|(_, output)| *output).collect();
        assert_eq!(outputs, done.borrow().iter().copied().collect());
        assert_eq!(outputs.len() == 6, plan.summary().is_complete());
        if let Some(end) = end {
            assert!(end.unwrap().is_valid() && polls > 5);
            return;
        }
        // The rest runs, and no subtask runs twice.
        let end = plan.run_until(policy, validate).await.unwrap();
        assert!(end.is_valid());
        assert_eq!(done.borrow().len(), 6, "after {polls} polls");
    }
    panic!("the plan did not end");
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
