use core::time::Duration;

use retry_classify::Kind;

/// The facts about a failed attempt, apart from its error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) number: Option<u32>,
    /// The attempt's start, measured from the call's.
    pub(crate) began: Option<Duration>,
    pub(crate) kind: Option<Kind>,
    pub(crate) pause: Option<Duration>,
}
