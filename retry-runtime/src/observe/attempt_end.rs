use crate::classify::kind::Kind;
use crate::observe::event::{Event, EventData};

/// How the last attempt of a call that gives up ended, as [`EventData::GaveUp`](crate::EventData::GaveUp) and
/// [`EventData::FallingBack`](crate::EventData::FallingBack) say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttemptEnd {
    /// A success: the last round of a batch that had given up items before.
    Succeeded,
    /// A failure that is not worth a retry.
    Stop,
    /// A failure of a kind that is worth a retry.
    Failed(Kind),
}

impl AttemptEnd {
    /// The end by a failure, of that kind if it is worth a retry.
    pub(crate) const fn failed(kind: Option<Kind>) -> Self {
        match kind {
            Some(kind) => Self::Failed(kind),
            None => Self::Stop,
        }
    }
}

impl Event<'_> {
    /// How an attempt or a correction ended with this event, if one did.
    pub(crate) fn attempt_end(&self) -> Option<AttemptEnd> {
        match self.data {
            EventData::Retrying { kind, .. } | EventData::AttemptFailed { kind, .. } => {
                Some(AttemptEnd::Failed(kind))
            }
            EventData::Correcting { .. } => Some(AttemptEnd::Failed(Kind::Invalid)),
            EventData::FallingBack { ended, .. } | EventData::GaveUp { ended, .. } => ended,
            EventData::Succeeded { .. } => Some(AttemptEnd::Succeeded),
            _ => None,
        }
    }
}
