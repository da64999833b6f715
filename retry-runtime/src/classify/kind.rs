use crate::listed::listed;

/// What sort of failure is retried. Each can have its own numbers: the keys `transient(…)`,
/// `throttled(…)`, `timed_out(…)` and `invalid(…)`, and a policy's setters of the same names.
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
}

listed!(Kind:
    Transient = "transient", Throttled = "throttled", Timeout = "timeout", Invalid = "invalid"
);
