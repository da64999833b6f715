//! How a call ended, for all that count, measure or record.

use crate::observe::{Event, EventData, Reason};

#[derive(Clone, Copy, Debug)]
pub(crate) struct CallEnd {
    pub(crate) attempts: u32,
    pub(crate) outcome: CallOutcome,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Succeeded,
    FellBack,
    GaveUp(Reason),
}

impl Event<'_> {
    /// How a call ended, where it ended with this attempt, and after how many.
    pub(crate) fn call_end(&self) -> Option<CallEnd> {
        let (attempts, outcome) = match self.data {
            EventData::GaveUp {
                attempts, reason, ..
            } => (attempts, CallOutcome::GaveUp(reason)),
            EventData::Succeeded { attempts, .. } => (attempts, CallOutcome::Succeeded),
            EventData::FellBack { .. } => (self.attempt, CallOutcome::FellBack),
            _ => return None,
        };
        Some(CallEnd { attempts, outcome })
    }
}
