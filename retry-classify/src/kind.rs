use core::fmt;

/// Kinds of failures that are retried. Each can have its own settings: the keys `transient(…)`, `throttled(…)`,
/// `timed_out(…)`, `invalid(…)` and `rejected(…)`, and a policy's setters of the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A temporary fault: an overloaded server, a refused connection.
    Transient,
    /// The server asks for fewer requests: HTTP 429 and similar.
    Throttled,
    /// No response in time.
    Timeout,
    /// A wrong value, for example one that the key `validate` rejected.
    Invalid,
    /// No attempt was made: the breaker or the limiter rejected it, and with the key `rejected` the call tries again.
    /// As the verdict on an attempt, this kind stops the call, because only a breaker or a limiter can reject.
    /// Protections then record that the server has not responded.
    Rejected,
}

impl Kind {
    /// The name of the kind in logs, metrics and keys: `transient`, `throttled`, `timeout`, `invalid` or `rejected`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Throttled => "throttled",
            Self::Timeout => "timeout",
            Self::Invalid => "invalid",
            Self::Rejected => "rejected",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
