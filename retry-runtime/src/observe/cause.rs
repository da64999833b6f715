use crate::listed::listed;

listed! {
    /// Why a breaker opened.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Cause {
        /// Too large a part of the calls failed.
        Ratio = "failure ratio",
        /// Too many calls failed in a row.
        Consecutive = "consecutive failures",
        /// Too large a part of the calls was slow.
        Slow = "slow calls",
        /// A trial call failed.
        Trial = "trial call failed",
        /// An operator opened it.
        Forced = "forced",
    }
}
