//! Hidden methods of verdicts and kinds, for calls, protections and the log.

use crate::kind::Kind;
use crate::verdict::{Basis, Verdict};

impl Verdict {
    /// On a value that `until` rejects: retried as a transient failure is, though the server answered. For expansions.
    #[doc(hidden)]
    pub const UNTIL: Self = Self {
        basis: Basis::Failed(Kind::Invalid),
        ..Self::TRANSIENT
    };

    /// The plain verdict of that kind, which calls make of a rejection.
    #[doc(hidden)]
    pub const fn retry(kind: Kind) -> Self {
        Self {
            kind: Some(kind),
            ..Self::STOP
        }
    }

    /// This verdict, adjusted if the key `timeout` dropped the attempt: `on` decides only whether to retry; the kind is
    /// always a timeout, and the failure is ambiguous. For calls.
    #[doc(hidden)]
    pub fn of_attempt(self, is_dropped: bool) -> Self {
        if !is_dropped {
            return self;
        }
        let basis = match self.kind {
            Some(_) => self.basis,
            None => Basis::Failed(Kind::Timeout),
        };
        Self {
            kind: self.kind.map(|_| Kind::Timeout),
            ambiguous: true,
            basis,
            ..self
        }
    }

    /// Returns true if the log warns about this verdict. For the core and batches.
    #[doc(hidden)]
    pub fn warns(self) -> bool {
        match self.basis {
            Basis::Unknown => true,
            Basis::LostHeaders(_) => self.after.is_none(),
            Basis::Answer | Basis::Failed(_) | Basis::Nothing => false,
        }
    }

    /// The facts behind the verdict, for protections and the log.
    #[doc(hidden)]
    pub fn basis(self) -> Basis {
        self.basis
    }

    /// The kind that protections count. `None` if the server answered, or nobody knows. For calls.
    #[doc(hidden)]
    pub fn kind_seen(self) -> Option<Kind> {
        match self.basis {
            Basis::Failed(kind) => Some(kind),
            Basis::Answer | Basis::Nothing | Basis::Unknown | Basis::LostHeaders(_) => self.kind,
        }
    }
}

impl Kind {
    /// All kinds in the order of their numbers, for what is counted or set for each.
    #[doc(hidden)]
    pub const ALL: [Self; 5] = [
        Self::Transient,
        Self::Throttled,
        Self::Timeout,
        Self::Invalid,
        Self::Rejected,
    ];

    /// The kinds that the failure of an attempt can have, in the order of `ALL`, for what is counted for each.
    #[doc(hidden)]
    pub const OF_FAILURES: [Self; 4] = [
        Self::Transient,
        Self::Throttled,
        Self::Timeout,
        Self::Invalid,
    ];
}
