//! Plans: the number and order of executions, and the effects of failures.

mod checks;
mod diagram;
mod ends;
mod futures;
mod journal;
mod log;
mod missing;
mod properties;
mod runs;
mod scale;
mod shared;
mod state;
mod steps;
mod until;

use std::collections::HashMap;

use retry_work::plan::{Local, PlanEnd, Snapshot, Subtask};
use support::prelude::*;

type LocalPlan<'a> = Plan<'a, String, String, Local<'a, String, String>>;
type LocalSubtask<'a> = Subtask<'a, String, String, Local<'a, String, String>>;
type LocalValidity<'a> = Validity<'a, String, String, Local<'a, String, String>>;

/// Waits 1, 2, 4, … s.
const EXACT: Policy = Policy::new().jitter(Jitter::None);

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
    executions: RefCell<Vec<&'static str>>,
    /// The number of executions that were asked for.
    asked: Cell<usize>,
    failures: RefCell<HashMap<&'static str, u32>>,
    /// The executions of subtasks that don't end, by number, from 1.
    hangs: Vec<(&'static str, usize)>,
}

impl World {
    /// Creates a world in which these subtasks fail a number of times.
    fn failing(failures: &[(&'static str, u32)]) -> Self {
        Self {
            failures: RefCell::new(failures.iter().copied().collect()),
            ..Self::default()
        }
    }

    /// A world in which this execution of a subtask doesn't end.
    fn hanging(mut self, name: &'static str, number: usize) -> Self {
        self.hangs.push((name, number));
        self
    }

    /// One execution: the names of the inputs and its own, or a failure. Doesn't return if it hangs.
    async fn execute(&self, name: &'static str, inputs: &[Arc<String>]) -> Result<String, String> {
        let number = {
            let mut executions = self.executions.borrow_mut();
            executions.push(name);
            executions.iter().filter(|other| **other == name).count()
        };
        if self.hangs.contains(&(name, number)) {
            pending::<()>().await;
        }
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

    /// The subtasks in a text such as `a; b; c: a b`, each with what it depends on.
    fn subtasks(&self, text: &'static str) -> Vec<LocalSubtask<'_>> {
        let subtask = |text: &'static str| {
            let (name, after) = text.split_once(": ").unwrap_or((text, ""));
            let after: Vec<_> = after.split_whitespace().collect();
            let execute = async move |inputs: Vec<Arc<String>>| self.execute(name, &inputs).await;
            Subtask::local(name, after, execute)
        };
        let texts = text.split("; ").filter(|text| !text.is_empty());
        texts.map(subtask).collect()
    }

    /// Adds these subtasks to a plan.
    fn add<'a>(&'a self, plan: &mut LocalPlan<'a>, text: &'static str) {
        for subtask in self.subtasks(text) {
            plan.push(subtask);
        }
    }

    /// A plan of these subtasks.
    fn plan(&self, text: &'static str) -> LocalPlan<'_> {
        let mut plan = Plan::local();
        self.add(&mut plan, text);
        plan
    }

    /// A validator's request for these subtasks.
    fn missing(&self, text: &'static str) -> LocalValidity<'_> {
        Validity::Missing(self.subtasks(text))
    }

    /// The executions since the last time this was asked.
    fn executed(&self) -> Vec<&'static str> {
        let executions = self.executions.borrow();
        executions[self.asked.replace(executions.len())..].to_vec()
    }
}
