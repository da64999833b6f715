use crate::listed::listed;

/// Why a breaker opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// Too large a part of the calls failed.
    Ratio,
    /// Too many calls failed in a row.
    Consecutive,
    /// Too large a part of the calls was slow.
    Slow,
    /// A trial call failed.
    Trial,
    /// An operator opened it.
    Forced,
}

listed!(Cause:
    Ratio = "failure ratio", Consecutive = "consecutive failures", Slow = "slow calls",
    Trial = "trial call failed", Forced = "forced"
);
