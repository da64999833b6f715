//! The behaviour of agents, SDKs and services between two attempts, in one file for each agent: the errors that they
//! retry, the number of retries, the waits, and their messages. A comment names the project's source.

mod codex;
mod goose;
mod sdks;
mod services;
mod zed;

use support::prelude::*;

/// The responses to requests, in order, and the arrival times of the requests.
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
