//! Hidden methods of verdicts and kinds, for calls, protections and the log.

use crate::kind::Kind;
use crate::verdict::{Basis, Verdict};

impl Verdict {
    /// The verdict on a value that `until` rejects: retried as a transient failure, although the server responded. Used
    /// by generated code.
    #[doc(hidden)]
    pub const UNTIL: Self = Self {
        basis: Basis::Failed(Kind::Invalid),
        ..Self::TRANSIENT
    };

    /// The verdict with only a kind. Calls use it for rejections.
    #[doc(hidden)]
    pub const fn retry(kind: Kind) -> Self {
        Self {
            kind: Some(kind),
            ..Self::STOP
        }
    }

    /// Returns the verdict, adjusted if the key `timeout` dropped the attempt. In that case `on` decides only whether
    /// to retry: the kind is always a timeout, and the failure is ambiguous. Used by calls.
    #[doc(hidden)]
    pub fn of_attempt(self, is_dropped: bool) -> Self {
        if !is_dropped {
            return self;
        }
        let timed_out = Self::retry(Kind::Timeout).ambiguous().with_hint(self.after);
        match self.kind {
            Some(_) => Self {
                basis: self.basis,
                ..timed_out
            },
            None => timed_out.once(),
        }
    }

    /// Returns true if this verdict causes a warning in the log. Used by calls and batches.
    #[doc(hidden)]
    pub fn warns(self) -> bool {
        let is_lost = matches!(self.basis, Basis::LostHeaders(_)) && self.after.is_none();
        is_lost || self.basis == Basis::Unknown
    }

    /// The facts behind the verdict. Used by protections and the log.
    #[doc(hidden)]
    pub fn basis(self) -> Basis {
        self.basis
    }

    /// The kind that protections count, if they count the failure. Used by calls.
    #[doc(hidden)]
    pub fn kind_seen(self) -> Option<Kind> {
        match self.basis {
            Basis::Failed(kind) => Some(kind),
            _ => self.kind,
        }
    }
}

impl Kind {
    /// All kinds, in the order of their discriminants, for arrays with one value per kind.
    #[doc(hidden)]
    pub const ALL: [Self; 5] = [
        Self::Transient,
        Self::Throttled,
        Self::Timeout,
        Self::Invalid,
        Self::Rejected,
    ];

    /// The kinds that an attempt's failure can have, in the order of `ALL`, for arrays with one count per kind.
    #[doc(hidden)]
    pub const OF_FAILURES: [Self; 4] = {
        let [transient, throttled, timeout, invalid, _] = Self::ALL;
        [transient, throttled, timeout, invalid]
    };
}
