//! A budget that is easy to count.

use std::mem::take;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use retry_runtime::Kind;
use retry_runtime::seam::RetryBudget;

/// Each retry takes one. Notes the calls of its methods.
#[derive(Debug)]
pub struct Turns {
    left: AtomicU32,
    notes: Mutex<Vec<String>>,
}

impl Turns {
    /// Creates a number of turns.
    pub fn new(turns: u32) -> Self {
        let (left, notes) = (AtomicU32::new(turns), Mutex::default());
        Self { left, notes }
    }

    /// Returns the number of turns left.
    pub fn left(&self) -> u32 {
        self.left.load(SeqCst)
    }

    /// Returns the calls of its methods since the last time, such as `withdraw transient`.
    pub fn notes(&self) -> Vec<String> {
        take(&mut self.notes.lock().unwrap())
    }

    fn note(&self, text: impl Into<String>) {
        self.notes.lock().unwrap().push(text.into());
    }
}

impl RetryBudget for Turns {
    fn withdraw(&self, kind: Kind) -> bool {
        self.note(format!("withdraw {kind}"));
        let turn = |left: u32| left.checked_sub(1);
        self.left.fetch_update(SeqCst, SeqCst, turn).is_ok()
    }

    fn refund(&self, kind: Kind) {
        self.note(format!("refund {kind}"));
        self.left.fetch_add(1, SeqCst);
    }

    fn called(&self) {
        self.note("called");
    }

    fn succeeded(&self, retried: Option<Kind>) {
        self.note(match retried {
            Some(kind) => format!("succeeded after {kind}"),
            None => "succeeded".into(),
        });
    }

    fn failed(&self, kind: Kind) {
        self.note(format!("failed {kind}"));
    }
}
