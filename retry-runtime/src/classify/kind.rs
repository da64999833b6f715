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
    /// No attempt was made: the breaker or the limiter rejected it, and the key `rejected` has the call try again. In
    /// the verdict on an attempt it stops the call, since only a breaker or a limiter rejects, and says nothing of the
    /// server.
    Rejected,
}

listed!(Kind:
    Transient = "transient", Throttled = "throttled", Timeout = "timeout", Invalid = "invalid",
    Rejected = "rejected"
);

impl Kind {
    /// The kinds that the failure of an attempt can have, in the order of `ALL`.
    pub(crate) const OF_FAILURES: [Self; 4] = [
        Self::Transient,
        Self::Throttled,
        Self::Timeout,
        Self::Invalid,
    ];
}
