//! Two agents that share their turns: `cargo run --example team`.
//!
//! A driver and a navigator alternate. An agent whose answer has the wrong format is asked again, with the error in its
//! history. A step costs the team a turn, and one more if it is retried, so that a struggling agent hands over sooner.

use std::cell::Cell;

use retry_runtime::{Event, GaveUp, Kind, RetryBudget, retry};

struct Team {
    turns: Cell<i32>,
    /// The retries of the step under way, of which the first costs a turn.
    step: Cell<u32>,
}

impl RetryBudget for Team {
    fn withdraw(&self, _: Kind) -> bool {
        let cost = i32::from(self.step.get() == 0);
        self.turns.update(|turns| turns - cost);
        self.step.update(|retries| retries + 1);
        true
    }

    fn refund(&self, _: Kind) {
        self.step.update(|retries| retries - 1);
        let cost = i32::from(self.step.get() == 0);
        self.turns.update(|turns| turns + cost);
    }
}

impl Team {
    /// No more retries than there are turns left, but one on the last turn.
    fn limit(&self, max: i32) -> i32 {
        self.turns.get().clamp(1, max)
    }

    fn next_turn(&self) -> bool {
        self.step.set(0);
        self.turns.update(|turns| turns - 1);
        self.turns.get() >= 0
    }
}

struct Agent {
    name: &'static str,
    /// What its model will answer.
    script: &'static [&'static str],
    /// What its model is shown: all that happened to it, retries included.
    history: Vec<String>,
    retries: u32,
}

impl Agent {
    fn new(name: &'static str, script: &'static [&'static str]) -> Self {
        Self {
            name,
            script,
            history: Vec::new(),
            retries: 0,
        }
    }

    /// Every kind of error is retried and counted, within one limit. The same error twice in a row is a loop.
    #[retry(
        name = self.name,
        max = team.limit(3),
        backoff = "none",
        on = |_| true,
        budget = team,
        repeats = 2,
        observe = |event| if let Event::Retrying { error, .. } = event {
            self.retries += 1;
            self.history.push(error.to_string());
        },
        fallback = async |gave_up| Ok(hand_over(&gave_up)),
    )]
    async fn step(&mut self, team: &Team) -> Result<String, String> {
        let (answer, rest) = self.script.split_first().ok_or("no answer")?;
        self.script = rest;
        println!("  {} answers {answer:?}", self.name);
        match *answer {
            "edit" | "done" => Ok(String::from(*answer)),
            "" => Err(String::from("no answer")),
            _ => Err(format!("{answer:?} is no command")),
        }
    }
}

fn hand_over(gave_up: &GaveUp<String>) -> String {
    let errors: Vec<_> = gave_up.errors().map(String::as_str).collect();
    format!("hands over ({}): {}", gave_up.reason(), errors.join(", "))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let team = Team {
        turns: Cell::new(8),
        step: Cell::new(0),
    };
    let mut agent = Agent::new("driver", &["edit", "edti", "edit", "ls", "cd"]);
    let mut other = Agent::new("navigator", &["", "", "edit"]);
    while team.next_turn() {
        let (left, limit) = (team.turns.get(), team.limit(3));
        println!(
            "{}'s step, {left} turns left after it, at most {limit} retries:",
            agent.name
        );
        let end = agent.step(&team).await.unwrap_or_else(|error| error);
        println!("  {end}; it knows of {:?}", agent.history);
        other.history.push(format!("the {} {end}", agent.name));
        std::mem::swap(&mut agent, &mut other);
    }
    let retries = agent.retries + other.retries;
    println!("The team made {retries} retries");
}
