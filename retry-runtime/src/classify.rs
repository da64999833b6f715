//! Items of `retry-classify`, at the paths by which this crate's modules import them, and types that only keys need.

pub(crate) mod conversions;
pub(crate) mod into_verdict;
pub mod says;

pub(crate) use retry_classify::{Cancelled, Classify, Kind, Rejected, TimedOut, Verdict};

pub(crate) mod kind {
    pub(crate) use retry_classify::Kind;
}

pub(crate) mod verdict {
    pub(crate) use retry_classify::Verdict;
    pub(crate) use retry_classify::macro_support::Basis;
}

pub(crate) mod rejected {
    pub(crate) use retry_classify::{Rejected, RejectedBy};
}

pub(crate) mod timed_out {
    pub(crate) use retry_classify::TimedOut;
}

pub(crate) mod cancelled {
    pub(crate) use retry_classify::Cancelled;
}
