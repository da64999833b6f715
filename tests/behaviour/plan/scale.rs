//! Plans with many subtasks: linear work, and no recursion, so that a long chain can't overflow the stack.

use std::future::poll_fn;

use retry_work::plan::Local;
use support::dropped::give_way;
use support::prelude::*;
use support::runtime;

const MANY: usize = 10_000;
/// Less than the frames of any recursion of that depth would take, in a debug build at the least.
const STACK: usize = 512 * 1024;

type Numbers<'a> = Plan<'a, usize, String, Local<'a, usize, String>>;

/// Runs it on a thread with a small stack.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(STACK);
    thread.spawn(test).unwrap().join().unwrap();
}

fn block_on<F: Future>(future: F) -> F::Output {
    runtime::paused().block_on(future)
}

/// The body of each subtask: it wakes itself once, so it is polled twice.
async fn add(polls: &Cell<usize>, inputs: impl Iterator<Item = usize>) -> usize {
    let mut giving_way = pin!(give_way());
    poll_fn(|context| {
        polls.set(polls.get() + 1);
        giving_way.as_mut().poll(context)
    })
    .await;
    inputs.sum::<usize>() + 1
}

/// The first link may fail once.
fn chain<'a>(polls: &'a Cell<usize>, fails: &'a Cell<bool>, links: usize) -> Numbers<'a> {
    let mut plan = Plan::local();
    plan.add("0", [], async |[]| {
        if fails.replace(false) {
            return Err(String::from("busy"));
        }
        Ok(add(polls, std::iter::empty()).await)
    });
    // In reverse order, because the order of adding must not matter.
    for link in (1..links).rev() {
        let before = (link - 1).to_string();
        plan.add(link.to_string(), [before.as_str()], async |[input]| {
            Ok(add(polls, [*input].into_iter()).await)
        });
    }
    plan
}

/// One, then many that depend on it, then one that depends on all of these.
fn fan(polls: &Cell<usize>, blades: usize) -> Numbers<'_> {
    let mut plan = Plan::local();
    plan.add("hub", [], async |[]| {
        Ok(add(polls, std::iter::empty()).await)
    });
    let names: Vec<String> = (0..blades).map(|blade| blade.to_string()).collect();
    for name in &names {
        plan.add(name.as_str(), ["hub"], async |[hub]| {
            Ok(add(polls, [*hub].into_iter()).await)
        });
    }
    plan.add("rim", names, async |all| {
        Ok(add(polls, all.iter().map(|output| **output)).await)
    });
    plan
}

#[test]
fn a_long_chain_runs_and_is_retried_with_two_polls_for_each_link() {
    on_small_stack(|| {
        for fails in [false, true] {
            let (polls, first_fails) = (Cell::new(0), Cell::new(fails));
            let mut plan = chain(&polls, &first_fails, MANY);
            let blocked = block_on(plan.run()).unwrap().blocked.len();
            assert_eq!(blocked, if fails { MANY - 1 } else { 0 });
            let summary = block_on(plan.retry_failed()).unwrap();
            assert!(summary.is_complete());
            assert_eq!(plan.output(&(MANY - 1).to_string()), Some(&MANY));
            assert_eq!(summary.executions, MANY as u64 + u64::from(fails));
            drop(plan);
            assert_eq!(polls.get(), 2 * MANY);
        }
    });
}

#[test]
fn a_wide_fan_runs_with_two_polls_for_each_blade() {
    on_small_stack(|| {
        for limit in [1, 8, MANY] {
            let polls = Cell::new(0);
            let mut plan = fan(&polls, MANY).concurrency(limit);
            let summary = block_on(plan.run()).unwrap();
            assert_eq!(summary.executions, MANY as u64 + 2);
            assert_eq!(plan.output("rim"), Some(&(2 * MANY + 1)));
            drop(plan);
            assert_eq!(polls.get(), 2 * (MANY + 2));
        }
    });
}

/// Looking at all that the rim waits for, each time, would take a minute.
#[test]
fn a_wide_fan_is_completed_blade_by_blade() {
    let blades = 10 * MANY;
    let polls = Cell::new(0);
    let mut plan = fan(&polls, blades).driven();
    let mut ready = plan.complete("hub", Ok(1)).unwrap();
    assert_eq!(ready.len(), blades);
    let last = ready.pop().unwrap();
    for blade in ready {
        assert!(plan.complete(&blade, Ok(2)).unwrap().is_empty());
    }
    assert_eq!(plan.complete(&last, Ok(2)).unwrap(), ["rim".into()]);
}

#[test]
fn a_long_cycle_is_found() {
    on_small_stack(|| {
        let mut plan = Plan::<(), String>::new();
        for link in 0..MANY {
            let next = ((link + 1) % MANY).to_string();
            plan.add(link.to_string(), [next.as_str()], async |[_]| Ok(()));
        }
        let error = plan.check().unwrap_err().to_string();
        assert_eq!(error.matches(" → ").count(), MANY);
        assert!(error.ends_with(" → 9999 → 0"));
    });
}
