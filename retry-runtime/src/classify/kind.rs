use crate::listed::listed;

/// What sort of failure is retried. Each can have its own numbers: the keys `transient(…)`,
/// `throttled(…)`, `timed_out(…)`, `invalid(…)` and `rejected(…)`, and a policy's setters of the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A passing fault: an overloaded server, a refused connection.
    Transient,
    /// The server asks for fewer requests: HTTP 429 and its relatives.
    Throttled,
    /// No answer in time.
    Timeout,
    /// A wrong answer: one that the key `validate` rejected.
    Invalid,
    /// No attempt: the breaker or the limiter let none begin, and the key `rejected` says that the call tries again.
    /// As the verdict on an attempt it stops, since those decide when to try again.
    Rejected,
}

listed!(Kind:
    Transient = "transient", Throttled = "throttled", Timeout = "timeout", Invalid = "invalid",
    Rejected = "rejected"
);

impl Kind {
    /// Those of attempts, in the order of all.
    pub(crate) const OF_FAILURES: [Self; 4] = [
        Self::Transient,
        Self::Throttled,
        Self::Timeout,
        Self::Invalid,
    ];
}
