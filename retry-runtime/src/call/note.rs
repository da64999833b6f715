use core::time::Duration;

use crate::classify::kind::Kind;

/// What is known of an attempt that failed, beside its error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) number: Option<u32>,
    /// How long after the call.
    pub(crate) began: Option<Duration>,
    pub(crate) kind: Option<Kind>,
    pub(crate) pause: Option<Duration>,
}
