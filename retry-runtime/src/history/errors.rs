//! The errors of a call's earlier attempts. Their number is bounded, because a call may retry forever.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use retry_classify::Kind;

/// The number of first errors that are kept.
pub(crate) const FIRST_KEPT: usize = 10;
/// The number of last errors that are kept in addition.
pub(crate) const LAST_KEPT: usize = 100;

/// The first errors and the last ones, in order. Stored behind one pointer, so that a call without errors stays small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Errors<E>(Option<Box<Gathered<E>>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Gathered<E> {
    kept: Vec<E>,
    /// The note on each kept error and, once the call gave up, on the last error.
    notes: Vec<Note>,
    left_out: u64,
    /// The number of the last retry that started alone, and the time from the call's start to the retry's.
    began: Option<(u32, Duration)>,
}

/// The details of a failed attempt, apart from its error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) number: Option<u32>,
    /// The time from the call's start to the attempt's.
    pub(crate) began: Option<Duration>,
    pub(crate) kind: Option<Kind>,
    pub(crate) pause: Option<Duration>,
}

impl<E> Errors<E> {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    pub(crate) fn push(&mut self, error: E, note: Note) {
        let gathered = self.gathered();
        if gathered.kept.len() == FIRST_KEPT + LAST_KEPT {
            drop(gathered.kept.remove(FIRST_KEPT));
            gathered.notes.remove(FIRST_KEPT);
            gathered.left_out = gathered.left_out.saturating_add(1);
        }
        gathered.kept.push(error);
        gathered.notes.push(note);
    }

    /// A record of the same attempts, without their errors.
    pub(crate) fn without_errors(&self) -> Self {
        let mut left_out = Self::new();
        if let Some(gathered) = &self.0 {
            left_out.gathered().left_out = self.count();
            left_out.gathered().began = gathered.began;
        }
        left_out
    }

    /// Takes the last error, because it ends the call. Its note stays, and still contains the pause after the error.
    pub(crate) fn pop(&mut self) -> Option<E> {
        self.gathered().kept.pop()
    }

    pub(crate) fn kept(&self) -> &[E] {
        self.0.as_ref().map_or(&[], |gathered| &gathered.kept)
    }

    pub(crate) fn into_kept(self) -> Vec<E> {
        self.0.map_or_else(Vec::new, |gathered| gathered.kept)
    }

    pub(crate) fn notes(&self) -> &[Note] {
        self.0.as_ref().map_or(&[], |gathered| &gathered.notes)
    }

    /// Adds the note on the error that ends the call, unless it is already there. The error itself is stored elsewhere.
    pub(crate) fn push_note(&mut self, note: Note) {
        let gathered = self.gathered();
        if gathered.notes.len() == gathered.kept.len() {
            gathered.notes.push(note);
        }
    }

    /// Records the pause after the last error.
    pub(crate) fn set_pause(&mut self, pause: Duration) {
        if let Some(note) = self.gathered().notes.last_mut() {
            note.pause = Some(pause);
        }
    }

    /// Records that the retry with this number started alone. `after` is the time since the call's start.
    pub(crate) fn note_start(&mut self, number: u32, after: Duration) {
        self.gathered().began = Some((number, after));
    }

    /// The time from the call's start to the start of the last of `begun` attempts. `None` if that attempt started next
    /// to others.
    pub(crate) fn start_of(&self, begun: u32) -> Option<Duration> {
        let last = self.0.as_ref().and_then(|gathered| gathered.began);
        let (number, after) = last.unwrap_or((1, Duration::ZERO));
        (number == begun).then_some(after)
    }

    /// The number of errors left out between the first and the last.
    pub(crate) fn left_out(&self) -> u64 {
        self.0.as_ref().map_or(0, |gathered| gathered.left_out)
    }

    /// The number of errors, including those left out.
    pub(crate) fn count(&self) -> u64 {
        let kept = u64::try_from(self.kept().len()).unwrap_or(u64::MAX);
        self.left_out().saturating_add(kept)
    }

    /// The error with this index among all errors. `None` if it was left out.
    pub(crate) fn get(&self, place: u64) -> Option<&E> {
        let place = usize::try_from(place).ok()?;
        if place < FIRST_KEPT {
            return self.kept().get(place);
        }
        let left_out = usize::try_from(self.left_out()).ok()?;
        let index = place.checked_sub(left_out)?;
        self.kept().get(index).filter(|_| index >= FIRST_KEPT)
    }

    fn gathered(&mut self) -> &mut Gathered<E> {
        self.0.get_or_insert_default()
    }
}

// The derived impl would require `E: Default`.
impl<E> Default for Gathered<E> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            notes: Vec::new(),
            left_out: 0,
            began: None,
        }
    }
}
