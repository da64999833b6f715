use core::fmt;

/// The kind of a retried failure. Each kind can have its own settings, through the keys `transient(…)`, `throttled(…)`,
/// `timed_out(…)`, `invalid(…)` and `rejected(…)`, or through the policy setters with the same names.
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
    /// The breaker or the limiter rejected the attempt, so it didn't start. With the key `rejected`, the call tries
    /// again. If `on` or `Classify` returns this kind, the call stops, because only a breaker or a limiter can reject
    /// an attempt. Protections then treat the attempt as not started.
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
