//! Two agents that share a limited number of turns: `cargo run --example team`.
//!
//! A driver and a navigator alternate. After an answer in the wrong format, the agent is asked again, with the error in
//! its history. A step costs the team one turn, and one more if it is retried, so a struggling agent hands over sooner.

use std::cell::Cell;

use retry_runtime::seam::RetryBudget;
use retry_runtime::{EventData, GaveUp, Kind, retry};

#[derive(Default)]
struct Team {
    /// The number of turns left after the current step.
    turns: Cell<i32>,
    /// The number of retries of the current step. The first one costs a turn.
    step: Cell<i32>,
    retries: Cell<i32>,
}

impl RetryBudget for Team {
    fn withdraw(&self, _: Kind) -> bool {
        self.count(1);
        true
    }

    fn refund(&self, _: Kind) {
        self.count(-1);
    }
}

impl Team {
    fn count(&self, retries: i32) {
        let paid = self.paid();
        self.step.set(self.step.get() + retries);
        self.retries.set(self.retries.get() + retries);
        self.turns.set(self.turns.get() + paid - self.paid());
    }

    /// Returns the number of turns that retries have cost in this step.
    fn paid(&self) -> i32 {
        self.step.get().min(1)
    }

    /// Returns the maximum number of retries: the turns left at the start of the step, from 1 to `max`.
    fn limit(&self, max: i32) -> i32 {
        (self.turns.get() + self.paid()).clamp(1, max)
    }

    fn next_turn(&self) -> bool {
        self.step.set(0);
        self.turns.set(self.turns.get() - 1);
        self.turns.get() >= 0
    }
}

struct Agent {
    name: &'static str,
    /// The answers of the agent's model.
    script: &'static [&'static str],
    /// The prompt for the model: everything that happened to the agent, including retries.
    history: Vec<String>,
}

impl Agent {
    fn new(name: &'static str, script: &'static [&'static str]) -> Self {
        Self {
            name,
            script,
            history: Vec::new(),
        }
    }

    /// Every kind of error is retried, with one shared limit. The same error twice in a row ends the call, because the
    /// agent is in a loop.
    #[retry(
        name = self.name,
        max = team.limit(3),
        backoff = "none",
        on = |_| true,
        budget = team,
        repeats = 2,
        observe = |event| if let EventData::Retrying { error, .. } = event.data {
            self.history.push(error.to_string());
        },
        fallback = async |gave_up| Ok(hand_over(&gave_up)),
    )]
    async fn step(&mut self, team: &Team) -> Result<String, String> {
        let (answer, rest) = self.script.split_first().ok_or("no answer")?;
        self.script = rest;
        let last = self.history.last().map_or("nothing yet", String::as_str);
        println!("  It reads: {last}. It answers {answer:?}.");
        match *answer {
            "edit" | "done" => Ok(format!("runs {answer:?}")),
            "" => Err(String::from("no answer")),
            _ => Err(format!("{answer:?} is not a command")),
        }
    }
}

fn hand_over(gave_up: &GaveUp<String>) -> String {
    let errors: Vec<_> = gave_up.errors().map(String::as_str).collect();
    format!("hands over ({}): {}", gave_up.reason(), errors.join(", "))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let team = Team::default();
    team.turns.set(8);
    let mut agent = Agent::new("driver", &["edit", "edti", "edit", "edit"]);
    let mut other = Agent::new("navigator", &["", "", "edit", "dnoe", "done"]);
    while team.next_turn() {
        let (name, left, limit) = (agent.name, team.turns.get(), team.limit(3));
        println!("The {name}'s step. Turns left after it: {left}. Retries allowed: {limit}.");
        let end = agent.step(&team).await.unwrap_or_else(|error| error);
        println!("  It {end}. Retries: {}.", team.step.get());
        other.history.push(format!("the {name} {end}"));
        std::mem::swap(&mut agent, &mut other);
    }
    println!("The team made {} retries.", team.retries.get());
}
