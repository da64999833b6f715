use crate::classify::kind::Kind;

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
