//! Plans: the number and order of executions, and the effects of failures.

mod checks;
mod diagram;
mod ends;
mod futures;
mod journal;
mod log;
mod missing;
mod progress;
mod properties;
mod retries;
mod runs;
mod scale;
mod shared;
mod state;
mod steps;
mod until;
mod verdicts;

use std::collections::HashMap;

use retry_work::plan::{Local, PlanEnd, Snapshot};
use support::prelude::*;

type LocalPlan<'a> = Plan<'a, String, String, Local<'a, String, String>>;
type LocalValidity<'a> = Validity<'a, String, String, Local<'a, String, String>>;

/// Waits 1, 2, 4, … s.
const EXACT: Policy = Policy::new().jitter(Jitter::None);

/// The subtasks in a text such as `a; b; c: a b`, each with what it depends on.
fn subtasks(text: &'static str) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let texts = text.split("; ").filter(|text| !text.is_empty());
    texts.map(|text| {
        let (name, after) = text.split_once(": ").unwrap_or((text, ""));
        (name, after.split_whitespace().collect())
    })
}

fn retryable(_: &String) -> bool {
    true
}

/// Valid once all completed.
async fn complete<'a, T, E>(results: Snapshot<T>) -> Validity<'a, T, E, Local<'a, T, E>> {
    if results.summary().is_complete() {
        Validity::Valid
    } else {
        Validity::Invalid("incomplete".into())
    }
}

/// Never valid.
async fn invalid<'a, T, E>(_: Snapshot<T>) -> Validity<'a, T, E, Local<'a, T, E>> {
    Validity::Invalid("incomplete".into())
}

fn gave_up(reason: Reason, message: &str) -> PlanEnd {
    let message = message.into();
    PlanEnd::GaveUp { reason, message }
}

fn reason(end: &PlanEnd) -> Option<Reason> {
    match end {
        PlanEnd::Valid => None,
        PlanEnd::GaveUp { reason, .. } => Some(*reason),
    }
}

/// Executions in order, and the failures that subtasks have before them.
#[derive(Default)]
struct World {
    executions: RefCell<Vec<String>>,
    failures: RefCell<HashMap<String, u32>>,
    /// The executions of subtasks that don't end, by number, from 1.
    hangs: Vec<(&'static str, usize)>,
    /// The executions of each subtask.
    begun: RefCell<HashMap<&'static str, usize>>,
}

impl World {
    /// Creates a world in which these subtasks fail a number of times.
    fn failing(failures: &[(&str, u32)]) -> Self {
        let failures = failures
            .iter()
            .map(|(name, times)| ((*name).into(), *times));
        Self {
            failures: RefCell::new(failures.collect()),
            ..Self::default()
        }
    }

    /// A world in which this execution of a subtask doesn't end.
    fn hanging(mut self, name: &'static str, number: usize) -> Self {
        self.hangs.push((name, number));
        self
    }

    /// One execution: the names of the inputs and its own, or a failure.
    fn execute(&self, name: &str, inputs: &[Arc<String>]) -> Result<String, String> {
        self.executions.borrow_mut().push(name.into());
        let mut failures = self.failures.borrow_mut();
        match failures.get_mut(name) {
            Some(0) | None => {
                let inputs: Vec<&str> = inputs.iter().map(|input| input.as_str()).collect();
                Ok(format!("{name}({})", inputs.join(" ")))
            }
            Some(left) => {
                *left = left.saturating_sub(1);
                Err(format!("{name} is busy"))
            }
        }
    }

    /// A plan of these subtasks.
    fn plan<'a>(&'a self, text: &'static str) -> LocalPlan<'a> {
        let mut plan = Plan::local();
        for (name, after) in subtasks(text) {
            plan.add(name, after, async move |inputs: Vec<Arc<String>>| {
                let outcome = self.execute(name, &inputs);
                let number = {
                    let mut begun = self.begun.borrow_mut();
                    *begun
                        .entry(name)
                        .and_modify(|number| *number += 1)
                        .or_insert(1)
                };
                if self.hangs.contains(&(name, number)) {
                    pending::<()>().await;
                }
                outcome
            });
        }
        plan
    }

    /// The executions since the last time this was asked.
    fn executed(&self) -> Vec<String> {
        self.executions.take()
    }
}
