//! The errors of a call's earlier attempts, of which a call without end keeps a bounded part.

use crate::call::note::Note;

/// How many of a call's first errors are kept.
pub(crate) const FIRST: usize = 10;
/// How many of its last ones are kept besides.
pub(crate) const LAST: usize = 100;

/// The first errors and the last ones, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Errors<E> {
    kept: Vec<E>,
    /// Of each that is kept.
    notes: Vec<Note>,
    left_out: u64,
}

impl<E> Errors<E> {
    pub(crate) const fn new() -> Self {
        Self {
            kept: Vec::new(),
            notes: Vec::new(),
            left_out: 0,
        }
    }

    pub(crate) fn push(&mut self, error: E, note: Note) {
        if self.kept.len() == FIRST + LAST {
            drop(self.kept.remove(FIRST));
            self.notes.remove(FIRST);
            self.left_out = self.left_out.saturating_add(1);
        }
        self.kept.push(error);
        self.notes.push(note);
    }

    /// As many, none of which is kept.
    pub(crate) fn all_left_out(&self) -> Self {
        let kept = u64::try_from(self.kept.len()).unwrap_or(u64::MAX);
        Self {
            left_out: self.left_out.saturating_add(kept),
            ..Self::new()
        }
    }

    pub(crate) fn pop(&mut self) -> Option<E> {
        self.notes.pop();
        self.kept.pop()
    }

    pub(crate) fn kept(&self) -> &[E] {
        &self.kept
    }

    pub(crate) fn into_kept(self) -> Vec<E> {
        self.kept
    }

    /// What is known of each that is kept.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }

    pub(crate) fn last_note(&mut self) -> Option<&mut Note> {
        self.notes.last_mut()
    }

    /// How many there were between the first and the last.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}
