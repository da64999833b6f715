//! Budgets, breakers, limiters and observers in plans.

use std::collections::HashMap;

use retry_work::plan::Local;
use support::dropped::{give_way, leaves_nothing_behind};
use support::limiters::{at_a_time, each};
use support::prelude::*;
use support::turns::Turns;

use crate::plan::{EXACT, complete, gave_up, reason};

const SECOND: Duration = secs(1);

type Subtasks<'a> = Plan<'a, u32, Failure, Local<'a, u32, Failure>>;

/// The failures of subtasks in their first executions, by name, and the times of execution.
struct World {
    start: Instant,
    scripts: RefCell<HashMap<&'static str, VecDeque<Failure>>>,
    executions: RefCell<Vec<(u64, &'static str)>>,
}

impl World {
    fn new(scripts: &[(&'static str, &[Failure])]) -> Self {
        let scripts = scripts
            .iter()
            .map(|(name, steps)| (*name, steps.to_vec().into()));
        Self {
            start: Instant::now(),
            scripts: RefCell::new(scripts.collect()),
            executions: RefCell::default(),
        }
    }

    fn execute(&self, name: &'static str) -> Result<u32, Failure> {
        let second = self.start.elapsed().as_secs();
        self.executions.borrow_mut().push((second, name));
        let mut scripts = self.scripts.borrow_mut();
        let failure = scripts.get_mut(name).and_then(VecDeque::pop_front);
        failure.map_or(Ok(0), Err)
    }

    /// Returns subtasks without dependencies.
    fn plan(&self, names: &'static str) -> Subtasks<'_> {
        let mut plan = Plan::local();
        for name in names.split(' ') {
            plan.add(name, [], async |[]| self.execute(name));
        }
        plan
    }

    fn executed(&self) -> Vec<(u64, &'static str)> {
        self.executions.take()
    }
}

#[tokio::test(start_paused = true)]
async fn each_subtask_is_a_call_to_the_budget() {
    let world = World::new(&[("b", &[TRANSIENT]), ("c", &[THROTTLED, THROTTLED])]);
    let turns = Turns::new(9);
    let mut plan = world.plan("a b c");
    let end = plan.run_until(EXACT.budget(&turns), complete).await;
    assert!(end.unwrap().is_valid());
    let expected = "called; succeeded; called; failed transient; called; failed throttled; \
        withdraw transient; withdraw throttled; succeeded after transient; failed throttled; \
        withdraw throttled; succeeded after throttled";
    assert_eq!(turns.notes().join("; "), expected);
    // A limiter takes care of those that were throttled.
    let world = World::new(&[("b", &[TRANSIENT]), ("c", &[THROTTLED, THROTTLED])]);
    let (turns, limiter) = (Turns::new(1), at_a_time(9));
    let mut plan = world.plan("a b c");
    let end = plan.run_until(EXACT.budget(&turns).limiter(&limiter), complete);
    assert!(end.await.unwrap().is_valid());
}

#[tokio::test(start_paused = true)]
async fn a_subtask_that_failed_in_an_earlier_run_is_not_a_new_call() {
    for loaded in [false, true] {
        let world = World::new(&[("a", &[TRANSIENT, TRANSIENT])]);
        let turns = Turns::new(9);
        let mut before = world.plan("a");
        before.run().await.unwrap();
        let mut plan = world.plan("a");
        if loaded {
            plan.load(before.state()).unwrap();
        } else {
            plan = before;
        }
        let end = plan.run_until(EXACT.budget(&turns), complete).await;
        assert!(end.unwrap().is_valid());
        let expected = "withdraw transient; failed transient; withdraw transient; \
            succeeded after transient";
        assert_eq!(turns.notes().join("; "), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_subtask_that_is_not_paid_for_is_a_dead_end() {
    for (retries, dead_ends, ended) in rows! {
        0, vec!["a", "b", "c"], Some(Reason::Budget);
        1, vec!["b", "c"], Some(Reason::Budget);
        2, vec!["c"], Some(Reason::Budget);
        3, vec![], None;
    } {
        let world = World::new(&["a", "b", "c"].map(|name| (name, &[TRANSIENT][..])));
        let (turns, recording) = (Turns::new(retries), testing::record());
        let mut plan = world.plan("a b c");
        let end = plan.run_until(EXACT.budget(&turns), complete).await;
        assert_eq!(reason(&end.unwrap()), ended, "{retries}");
        assert_eq!(world.executed().len(), 3 + retries as usize);
        assert_eq!(plan.summary().dead_ends, dead_ends);
        assert_eq!(turns.left(), 0);
        for name in dead_ends {
            let line = format!("dead end plan.{name} attempt=1 error=transient reason=budget");
            assert!(recording.lines().contains(&line), "{:?}", recording.lines());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_rejects_all_subtasks() {
    let breaker = Breaker::new().consecutive_failures(1);
    let world = World::new(&[("a", &[TRANSIENT; 9])]);
    let recording = testing::record();
    let mut plan = world.plan("a b").concurrency(1).name("site");
    plan.add("c", ["b"], async |[_]| world.execute("c"));
    let end = plan.run_until(EXACT.breaker(&breaker), complete).await;
    assert_eq!(end.unwrap(), gave_up(Reason::Rejected, "incomplete"));
    assert_eq!(world.executed(), [(0, "a")]);
    assert_eq!(plan.error("a"), Some(&TRANSIENT));
    let expected = [
        "breaker opened site.a attempt=1 delay=5s error=transient reason=consecutive failures",
        "failed site.a attempt=1 error=transient",
        "not begun site.b attempt=0 error=rejected by an open circuit breaker reason=rejected",
        "retrying site attempt=1 max=3 delay=1s error=1 of 3 subtasks failed: a; incomplete reason=transient",
        "dead end site.a attempt=1 error=transient reason=rejected",
        "gave up site attempt=2 max=3 error=incomplete reason=rejected",
        "summary site: 0 completed; 1 failed: a; 1 dead end: a; 2 pending: b, c; 1 execution",
    ];
    assert_eq!(recording.lines(), expected);
    // Once the server is up again, the plan continues where it stopped.
    sleep(5 * SECOND).await;
    let recording = testing::record();
    let policy = EXACT.breaker(&breaker);
    let end = plan.run_until(policy, async |_| Validity::Valid).await;
    assert!(end.unwrap().is_valid());
    assert_eq!(plan.summary().completed, ["b", "c"]);
    assert_eq!(breaker.state(), BreakerState::Closed);
    let expected = [
        "breaker half open site.b attempt=1 reason=open for long enough",
        "breaker closed site.b attempt=1 reason=trial call succeeded",
    ];
    assert_eq!(recording.lines()[..2], expected);
}

#[tokio::test(start_paused = true)]
async fn other_subtasks_continue_after_a_rejection() {
    let breaker = Breaker::new().consecutive_failures(1);
    let world = World::new(&[("a", &[TRANSIENT]), ("b", &[throttled_for(9 * SECOND)])]);
    let mut plan = world.plan("a b");
    let end = plan.run_until(EXACT.breaker(&breaker), complete).await;
    // The breaker opens when `a` fails. After the hint of `b`, 9 s, it admits one trial call: that is `a`, so `b` is
    // rejected.
    assert_eq!(reason(&end.unwrap()), Some(Reason::Rejected));
    assert_eq!(world.executed(), [(0, "a"), (0, "b"), (9, "a")]);
    assert_eq!(plan.summary().completed, ["a"]);
    assert_eq!(plan.summary().dead_ends, ["b"]);
}

#[tokio::test(start_paused = true)]
async fn each_execution_waits_for_its_turn() {
    let limiter = each(2);
    let world = World::new(&[("b", &[TRANSIENT])]);
    let recording = testing::record();
    let mut plan = world.plan("a b c");
    let end = plan.run_until(EXACT.limiter(&limiter), complete).await;
    assert!(end.unwrap().is_valid());
    assert_eq!(world.executed(), [(0, "a"), (2, "b"), (4, "c"), (6, "b")]);
    assert_eq!(limiter.waiting(), 0);
    let expected = [
        "waiting plan.b attempt=1 ahead=0 delay=2s",
        "waiting plan.c attempt=1 ahead=1",
        "completed plan.a attempt=1",
        "waited plan.b attempt=1 delay=2s",
        "failed plan.b attempt=1 error=transient",
        "waited plan.c attempt=1 delay=4s",
    ];
    assert_eq!(recording.lines()[..6], expected);
}

#[tokio::test(start_paused = true)]
async fn a_hint_pauses_all_subtasks() {
    let limiter = ConcurrencyLimiter::aimd();
    let world = World::new(&[("a", &[throttled_for(9 * SECOND)])]);
    let mut plan = world.plan("a b c").concurrency(1);
    let end = plan.run_until(EXACT.limiter(&limiter), complete).await;
    assert!(end.unwrap().is_valid());
    // After the pause, as many run as before it.
    assert_eq!(world.executed(), [(0, "a"), (9, "b"), (9, "c"), (18, "a")]);
}

#[tokio::test(start_paused = true)]
async fn a_subtask_that_cannot_wait_does_not_start() {
    for (limiter, policy, cancels, seconds, expected) in rows! {
        each(10).max_wait(5 * SECOND), EXACT, 99, 0, Reason::Rejected;
        each(10), EXACT.deadline(5 * SECOND), 99, 0, Reason::Deadline;
        each(10), EXACT, 4, 4, Reason::Cancelled;
    } {
        // The reason is not the dead end's, because another run would complete the pending subtasks.
        let world = World::new(&[("a", &[STOP])]);
        let mut plan = world.plan("a b c");
        let policy = policy.limiter(&limiter).cancel(sleep(secs(cancels)));
        let end = plan.run_until(policy, complete).await.unwrap();
        assert_eq!(reason(&end), Some(expected));
        assert_eq!(world.start.elapsed(), seconds * SECOND);
        assert_eq!(world.executed(), [(0, "a")]);
        assert_eq!(plan.summary().pending, ["b", "c"]);
        assert_eq!(limiter.waiting(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_what_waits_and_what_runs() {
    let (limiter, start) = (at_a_time(1), Instant::now());
    let mut plan = Plan::local();
    for name in ["a", "b"] {
        plan.add(name, [], async |[]| pending::<Result<u32, Failure>>().await);
    }
    let policy = EXACT.deadline(10 * SECOND).limiter(&limiter);
    let end = plan.run_until(policy, complete).await.unwrap();
    assert_eq!(reason(&end), Some(Reason::Deadline));
    assert_eq!(start.elapsed(), 10 * SECOND);
    assert_eq!(plan.summary().pending, ["a", "b"]);
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_ambiguous_failure_is_not_repeated_with_a_worse_one() {
    const AMBIGUOUS: Failure = Failure(Verdict::TRANSIENT.ambiguous());
    for (idempotent, executions, dead_ends) in [
        (true, vec!["a", "b", "a", "b"], vec![]),
        (false, vec!["a", "b", "b"], vec!["a"]),
    ] {
        let world = World::new(&[("a", &[AMBIGUOUS]), ("b", &[THROTTLED])]);
        let mut plan = world.plan("a b");
        let end = plan.run_until(EXACT.idempotent(idempotent), complete).await;
        let expected = (!idempotent).then_some(Reason::Ambiguous);
        assert_eq!(reason(&end.unwrap()), expected);
        let names: Vec<_> = world.executed().into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, executions);
        assert_eq!(plan.summary().dead_ends, dead_ends);
    }
}

#[tokio::test(start_paused = true)]
async fn an_observer_sees_rounds_and_subtasks() {
    let world = World::new(&[("a", &[TRANSIENT]), ("b", &[STOP])]);
    let events = testing::Recorder::new();
    let mut plan = world.plan("a b");
    let end = plan
        .run_until(
            EXACT.max(1).observe(|event| events.observe(event)),
            complete,
        )
        .await;
    assert!(!end.unwrap().is_valid());
    let expected = [
        "starting plan attempt=1",
        "progressed plan attempt=1 done=0 failed=0 waiting=2",
        "starting plan.a attempt=1",
        "starting plan.b attempt=1",
        "attempt failed plan.a attempt=1 error=transient reason=transient",
        "gave up plan.b attempt=1 max=1 error=stop reason=not retryable",
        "progressed plan attempt=1 done=0 failed=1 waiting=1",
        "retrying plan attempt=1 max=1 delay=1s error=1 of 2 subtasks failed: a; incomplete reason=transient",
        "starting plan attempt=2",
        "starting plan.a attempt=2",
        "succeeded plan.a attempt=2 max=1",
        "progressed plan attempt=2 done=1 failed=1 waiting=0",
        "gave up plan attempt=2 max=1 error=incomplete reason=not retryable",
    ];
    assert_eq!(events.lines(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_plan_releases_everything() {
    leaves_nothing_behind(3, async |shared| {
        let breaker = Breaker::new();
        let mut plan = Plan::local();
        for name in ["a", "b", "c"] {
            plan.add(name, [], async |[]| Err::<u32, _>(shared.attempts(1).await));
        }
        let policy = Policy::none()
            .max(2)
            .timer(TimerFn::new(|_| give_way()))
            .budget(&shared.budget)
            .breaker(&breaker)
            .limiter(&shared.limiter);
        assert!(!plan.run_until(policy, complete).await.unwrap().is_valid());
    });
}
