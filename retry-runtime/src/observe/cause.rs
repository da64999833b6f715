use crate::listed::listed;

/// The reason that a breaker opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The failure rate was too high.
    Ratio,
    /// Too many calls failed in a row.
    Consecutive,
    /// Too many calls were slow.
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
