//! No input text causes a panic, and reading a printed text returns the original value.
//!
//! Each target mutates texts of its corpus, one per line in `corpus/`. By default, a target runs a few fixed cases.
//! With `FUZZ_SECONDS`, every target runs random cases for this number of seconds:
//!
//! ```sh
//! FUZZ_SECONDS=600 cargo test --release -p behaviour fuzz::
//! ```

mod plan_states;
mod policies;
mod responses;

use std::env;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};

/// Checks values of that strategy: 512 that are always the same, or new ones for `FUZZ_SECONDS`.
fn fuzz<T: Debug>(values: impl Strategy<Value = T>, check: impl Fn(T) -> TestCaseResult) {
    let config = Config {
        cases: 512,
        failure_persistence: None,
        ..Config::default()
    };
    let seconds = env::var("FUZZ_SECONDS").map_or(0, |seconds| seconds.parse().unwrap());
    let end = Instant::now() + Duration::from_secs(seconds);
    let fixed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config.clone(), fixed);
    loop {
        if let Err(failure) = runner.run(&values, &check) {
            panic!("{failure}");
        }
        if Instant::now() >= end {
            return;
        }
        runner = TestRunner::new(config.clone());
    }
}

/// A change of a text.
#[derive(Clone, Debug)]
enum Change {
    Insert(Index, String),
    Remove(Index, usize),
    Repeat(Index, usize),
    /// Continues with the rest of another text in the corpus.
    Splice(Index, &'static str, Index),
}

/// Texts of the corpus, a few places of each changed. `pieces` are what the text is made of, separated by `|`.
fn texts(corpus: &'static str, pieces: &'static str) -> impl Strategy<Value = String> {
    let lines: Vec<&str> = corpus.lines().collect();
    let piece = prop_oneof![
        3 => select(pieces.split('|').collect::<Vec<_>>()).prop_map(String::from),
        1 => any::<char>().prop_map(String::from),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| number.to_string()),
    ];
    let other = select(lines.clone());
    let change = prop_oneof![
        (any::<Index>(), piece).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (any::<Index>(), 1..9_usize).prop_map(|(at, len)| Change::Remove(at, len)),
        (any::<Index>(), 1..30_usize).prop_map(|(at, len)| Change::Repeat(at, len)),
        (any::<Index>(), other, any::<Index>())
            .prop_map(|(at, other, from)| Change::Splice(at, other, from)),
    ];
    (select(lines), vec(change, 0..6)).prop_map(|(line, changes)| {
        let mut text: Vec<char> = unescaped(line);
        for change in changes {
            change.apply(&mut text);
        }
        text.into_iter().collect()
    })
}

/// A line of a corpus, in which `\n` is a line's end.
fn unescaped(line: &str) -> Vec<char> {
    line.replace("\\n", "\n").chars().collect()
}

impl Change {
    fn apply(self, text: &mut Vec<char>) {
        let place = |at: Index, len: usize| at.index(len + 1);
        match self {
            Self::Insert(at, piece) => {
                let at = place(at, text.len());
                text.splice(at..at, piece.chars());
            }
            Self::Remove(at, len) => {
                let at = place(at, text.len());
                text.drain(at..text.len().min(at + len));
            }
            Self::Repeat(at, len) => {
                let at = place(at, text.len());
                let again = text[at..text.len().min(at + len)].to_vec();
                text.splice(at..at, again);
            }
            Self::Splice(at, other, from) => {
                let other = unescaped(other);
                text.truncate(place(at, text.len()));
                text.extend(&other[place(from, other.len())..]);
            }
        }
    }
}
