//! An agent in a terminal, with a simulated model: `cargo run --example agent`.
//!
//! The agent's token has expired, its history is too long, the model is overloaded for a while, and after the second
//! question the user presses Esc. Each problem is handled between two attempts, so the code that calls the model stays
//! a plain function.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use retry_runtime::own_loop::NextAttempt;
use retry_runtime::{Cancelled, Verdict, retry};
use tokio::time::sleep;

#[derive(Debug)]
enum ModelError {
    Expired,
    TooLong,
    Overloaded,
    Aborted,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "401 token expired",
            Self::TooLong => "400 context too long",
            Self::Overloaded => "529 overloaded",
            Self::Aborted => "aborted",
        })
    }
}

impl From<Cancelled> for ModelError {
    fn from(_: Cancelled) -> Self {
        Self::Aborted
    }
}

/// Retries at once if the agent can fix the problem, later if it can't, and not at all after Esc.
fn verdict(error: &ModelError) -> Verdict {
    match error {
        ModelError::Expired | ModelError::TooLong => Verdict::TRANSIENT.after(Duration::ZERO),
        ModelError::Overloaded => Verdict::THROTTLED,
        ModelError::Aborted => Verdict::STOP,
    }
}

struct Agent {
    token: u32,
    history: Vec<&'static str>,
    /// The number of requests for which the model is still overloaded.
    overloads: u32,
}

impl Agent {
    #[retry(max = 5, base = "2s", jitter = "none", hint = "exact", on = verdict,
        abort = sleep(patience),
        before_pause = async |error, next| countdown(error, next),
        before_retry = async |error, _next| self.heal(error).await)]
    async fn ask(&mut self, patience: Duration) -> Result<(), ModelError> {
        if self.token == 0 {
            return Err(ModelError::Expired);
        }
        if self.history.len() > 2 {
            return Err(ModelError::TooLong);
        }
        if self.overloads > 0 {
            self.overloads -= 1;
            return Err(ModelError::Overloaded);
        }
        for token in "Twelve crates depend on it, and three of them are ours.".split_inclusive(' ')
        {
            show(token);
            sleep(Duration::from_millis(120)).await;
        }
        show("\n");
        Ok(())
    }

    /// Fixes the cause of an error, if possible. If the fix fails, the call ends.
    async fn heal(&mut self, error: &ModelError) -> Result<(), String> {
        match error {
            ModelError::Expired if self.token > 0 => {
                return Err(String::from("the new token is refused, too"));
            }
            ModelError::Expired => {
                sleep(Duration::from_millis(300)).await;
                self.token += 1;
                show("  (a new token)\n");
            }
            ModelError::TooLong => {
                let turns = self.history.split_off(1);
                if turns.is_empty() {
                    return Err(String::from("nothing left to leave out"));
                }
                self.history.push("A summary of all that was said.");
                show("  (the history, summarized)\n");
            }
            ModelError::Overloaded | ModelError::Aborted => {}
        }
        Ok(())
    }
}

/// Shows the error and the length of the pause. A countdown bar would start here, and end in `before_retry`.
fn countdown(error: &ModelError, next: NextAttempt) {
    let pause = next.pause();
    show(&format!(
        "  {error}: attempt {} in {pause:?}\n",
        next.number()
    ));
}

fn show(text: &str) {
    print!("{text}");
    // Continue even if the terminal is gone.
    let _ = io::stdout().flush();
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut agent = Agent {
        token: 0,
        history: vec![
            "You are an engineer.",
            "What is this?",
            "A library.",
            "Who uses it?",
        ],
        overloads: 1,
    };
    show("> Who uses it?\n");
    match agent.ask(Duration::from_secs(60)).await {
        Ok(()) => {}
        Err(error) => show(&format!("  gave up: {error}\n")),
    }

    show("> And how many of them are ours?\n");
    agent.overloads = 9;
    // The user presses Esc after a while.
    match agent.ask(Duration::from_secs(3)).await {
        Ok(()) => {}
        Err(ModelError::Aborted) => show("  ^[ stopped\n"),
        Err(error) => show(&format!("  gave up: {error}\n")),
    }
}
