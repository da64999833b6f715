//! `retry_each`: batches of items that succeed or fail independently.

// The code under test takes policies by value.
#![allow(clippy::large_types_passed_by_value)]
// Tokens are exact.
#![allow(clippy::float_cmp)]

mod answers;
mod blocking;
mod limited;
mod log;
mod policies;
mod progress;
mod properties;
mod retained;
mod send;
mod shared;
mod times;

use std::ops::Range;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use retry_runtime::chain::{MayCancel, OnError};
use retry_work::{Batches, ItemError};
use support::dropped::OnDrop;
use support::prelude::*;

type Answer = Result<u32, Failure>;
type Answers = Result<Vec<Answer>, Failure>;
type Results = Vec<Result<u32, ItemError<Failure>>>;

/// Delays of 1, 2, 4, … seconds.
const EXACT: Policy = Policy::new().jitter(Jitter::None);

/// The failures of items in their first attempts, in order. Later attempts succeed, as do all attempts of other items.
type Fails = Vec<(Range<u32>, Vec<Failure>)>;

/// Each item succeeds.
#[allow(clippy::unnecessary_wraps)] // as an answer
fn all_ok<T>(items: Vec<T>) -> Result<Vec<Result<T, Failure>>, Failure> {
    Ok(items.into_iter().map(Ok).collect())
}

/// The most calls at the same time.
#[derive(Default)]
struct Most {
    running: AtomicUsize,
    most: AtomicUsize,
}

impl Most {
    /// Counts a call until the guard is dropped.
    fn one_more(&self) -> OnDrop<impl FnMut()> {
        let running = self.running.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(running, SeqCst);
        OnDrop(|| {
            self.running.fetch_sub(1, SeqCst);
        })
    }

    fn get(&self) -> usize {
        self.most.load(SeqCst)
    }
}

/// A server that remembers what it was sent, and when.
struct Server {
    started: Mutex<Instant>,
    calls: Mutex<Vec<(Duration, Vec<u32>)>>,
    fails: Fails,
    /// The failures of the first calls as a whole.
    whole: Vec<Failure>,
    /// The duration of a call.
    takes: Duration,
}

impl Server {
    fn new(fails: impl Into<Fails>) -> Self {
        Self {
            started: Mutex::new(Instant::now()),
            calls: Mutex::default(),
            fails: fails.into(),
            whole: Vec::new(),
            takes: Duration::ZERO,
        }
    }

    /// A server whose first calls fail as a whole, with these failures.
    fn failing(whole: impl Into<Vec<Failure>>) -> Self {
        Self {
            whole: whole.into(),
            ..Self::new([])
        }
    }

    /// Records the call and returns its results.
    fn answer(&self, items: &[u32]) -> Answers {
        let mut calls = self.calls.lock().unwrap();
        calls.push((self.started.lock().unwrap().elapsed(), items.to_vec()));
        if let Some(failure) = self.whole.get(calls.len() - 1) {
            return Err(failure.clone());
        }
        let answer = |item: &u32| {
            let attempts = calls.iter().filter(|(_, sent)| sent.contains(item));
            let (_, failures) = self.fails.iter().find(|(items, _)| items.contains(item))?;
            failures.get(attempts.count() - 1).cloned()
        };
        Ok(items
            .iter()
            .map(|item| answer(item).map_or(Ok(*item), Err))
            .collect())
    }

    async fn call(&self, items: Vec<u32>) -> Answers {
        let answers = self.answer(&items);
        if !self.takes.is_zero() {
            sleep(self.takes).await;
        }
        answers
    }

    /// Sends items from 0 on.
    async fn run(
        &self,
        batches: impl IntoBatches<Timer: Timer, On: OnError<Failure>, Cancel: MayCancel>,
        items: u32,
    ) -> Results {
        *self.started.lock().unwrap() = Instant::now();
        retry_each(batches, 0..items, async |pending| self.call(pending).await).await
    }

    fn sent(&self) -> MutexGuard<'_, Vec<(Duration, Vec<u32>)>> {
        self.calls.lock().unwrap()
    }

    /// The items of each call.
    fn items(&self) -> Vec<Vec<u32>> {
        self.sent().iter().map(|(_, items)| items.clone()).collect()
    }

    /// The second in which each call started, and its items, as in `0: 0 1; 0: 2 3; 1: 0`.
    fn calls(&self) -> String {
        let call = |(time, items): &(Duration, Vec<u32>)| {
            assert!(time.subsec_millis() <= 3, "{time:?}"); // The timer's granularity.
            format!("{}: {}", time.as_secs(), joined(items))
        };
        self.sent().iter().map(call).collect::<Vec<_>>().join("; ")
    }
}

fn joined(items: &[u32]) -> String {
    let items: Vec<_> = items.iter().map(ToString::to_string).collect();
    items.join(" ")
}

/// No errors.
const NONE: [&str; 0] = [];

/// Each error, behind the items that have it, as in `0 1: 2 attempts (deadline): transient`. The other items have their
/// number as the value.
fn errors(results: &Results) -> Vec<String> {
    let mut errors: Vec<(Vec<u32>, String)> = Vec::new();
    for (item, result) in (0..).zip(results) {
        let Err(error) = result else {
            assert_eq!(*result, Ok(item));
            continue;
        };
        let text = error.to_string();
        let text = text.strip_prefix("gave up after ").expect("the prefix");
        let is_dropped = text.ends_with("dropped before an answer");
        assert_eq!(error.is_dropped(), is_dropped, "{text}");
        assert!(
            text.starts_with(&format!("{} attempt", error.attempts())),
            "{text}"
        );
        assert!(text.contains(&format!(" ({}): ", error.reason())), "{text}");
        if let Some(cause) = error.error() {
            assert!(text.contains(&format!("): {cause}")), "{text}");
        }
        match errors.iter_mut().find(|(_, other)| other == text) {
            Some((items, _)) => items.push(item),
            None => errors.push((vec![item], text.to_owned())),
        }
    }
    let line = |(items, text): &(Vec<u32>, String)| format!("{}: {text}", joined(items));
    errors.iter().map(line).collect()
}

/// The name of a row, the batches, the number of items, their failures, the calls, and the errors.
type Row = (
    &'static str,
    Batches,
    u32,
    Fails,
    &'static str,
    &'static [&'static str],
);

/// Checks batches whose calls take this time each.
async fn check<const N: usize>(takes: Duration, rows: [Row; N]) {
    for (name, batches, items, fails, calls, failed) in rows {
        let server = Server {
            takes,
            ..Server::new(fails)
        };
        let results = server.run(batches, items).await;
        assert_eq!(server.calls(), calls, "{name}");
        assert_eq!(errors(&results), failed, "{name}");
    }
}
