//! What agents and the SDKs of model APIs do between two attempts, one file for each project: which errors they retry, how
//! often, after which waits, and what they show. A comment names where a project publishes it.

mod alloy;
mod anthropic;
mod codex;
mod goose;
mod openai;
mod swiftide;
mod zed;

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What requests are answered with, in order, and when they came.
struct Server<E> {
    answers: VecDeque<Result<&'static str, E>>,
    start: Instant,
    asked: Vec<Duration>,
}

impl<E> Server<E> {
    /// Fails with these errors, and then succeeds.
    fn failing(errors: impl IntoIterator<Item = E>) -> Self {
        Self {
            answers: errors.into_iter().map(Err).collect(),
            start: Instant::now(),
            asked: Vec::new(),
        }
    }

    fn answer(&mut self) -> Result<&'static str, E> {
        self.asked.push(self.start.elapsed());
        self.answers.pop_front().unwrap_or(Ok("done"))
    }

    /// The waits between requests.
    fn waits(&self) -> Vec<Duration> {
        let waits = self.asked.windows(2).map(|two| two[1].abs_diff(two[0]));
        waits.collect()
    }
}
