//! Plans: what runs, how often, in which order, and what becomes of failures.

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

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use retry_runtime::{Jitter, Policy};
use retry_work::Plan;
use retry_work::plan::Local;

type LocalPlan<'a> = Plan<'a, String, String, Local<'a, String, String>>;

/// Waits 1, 2, 4, … s.
const EXACT: Policy = Policy::new().jitter(Jitter::None);

/// Executions in order, and the failures that subtasks have before them.
#[derive(Default)]
struct World {
    executions: RefCell<Vec<String>>,
    failures: RefCell<HashMap<String, u32>>,
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

    /// A plan of subtasks, each with what it depends on.
    fn plan<'a>(&'a self, subtasks: &[(&'static str, &[&'static str])]) -> LocalPlan<'a> {
        let mut plan = Plan::local();
        for (name, after) in subtasks {
            plan.add(*name, after.to_vec(), async |inputs: Vec<Arc<String>>| {
                self.execute(name, &inputs)
            });
        }
        plan
    }

    /// The executions since the last time this was asked.
    fn executed(&self) -> Vec<String> {
        self.executions.take()
    }
}
