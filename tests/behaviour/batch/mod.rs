//! `retry_each`: items that succeed or fail each on its own, in batches.

// The code under test takes policies by value.
#![allow(clippy::large_types_passed_by_value)]

mod answers;
mod blocking;
mod cancel;
mod concurrency;
mod deadline;
mod delays;
mod kept;
mod limited;
mod log;
mod policies;
mod progress;
mod properties;
mod send;
mod shared;
mod verdicts;
mod whole_requests;

use std::cell::RefCell;
use std::time::Duration;

use retry_runtime::Policy;
use retry_work::ItemError;
use support::failure::Failure;
use support::time::secs;
use tokio::time::Instant;

type Answer = Result<u32, Failure>;
type Answers = Result<Vec<Answer>, Failure>;
type Results = Vec<Result<u32, ItemError<Failure>>>;

/// Delays of 1, 2, 4, … seconds.
const EXACT: Policy = Policy::new().jitter(retry_runtime::Jitter::None);

/// A server that remembers what it was sent, and when.
struct Server<F> {
    started: Instant,
    calls: RefCell<Vec<(Duration, Vec<u32>)>>,
    /// Returns the result of an item in its nth attempt, starting at 1.
    answer: F,
}

impl<F: Fn(u32, usize) -> Answer> Server<F> {
    fn new(answer: F) -> Self {
        Self {
            started: Instant::now(),
            calls: RefCell::default(),
            answer,
        }
    }

    /// Records the call and returns its results.
    fn call(&self, items: &[&u32]) -> Vec<Answer> {
        let items: Vec<_> = items.iter().map(|item| **item).collect();
        let call = (self.started.elapsed(), items.clone());
        self.calls.borrow_mut().push(call);
        let calls = self.calls.borrow();
        let attempt = |item: u32| {
            calls
                .iter()
                .filter(|(_, sent)| sent.contains(&item))
                .count()
        };
        let answer = |item: &u32| (self.answer)(*item, attempt(*item));
        items.iter().map(answer).collect()
    }

    /// The calls so far: the second in which they started, and the items.
    fn calls(&self) -> Vec<(u64, Vec<u32>)> {
        let calls = self.calls.borrow();
        let second = |time: &Duration| {
            assert!(time.subsec_millis() <= 3, "{time:?}"); // The timer's granularity.
            time.as_secs()
        };
        calls
            .iter()
            .map(|(time, items)| (second(time), items.clone()))
            .collect()
    }
}

/// The values, and the reasons why there is none.
fn outcomes(results: &Results) -> Vec<Result<u32, String>> {
    let text = |error: &ItemError<Failure>| error.to_string();
    results
        .iter()
        .map(|result| result.as_ref().copied().map_err(text))
        .collect()
}
