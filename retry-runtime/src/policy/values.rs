/// What is done with the values of attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// They are the call's.
    Taken,
    /// They may be rejected.
    Validated,
    /// One was rejected, and is repaired.
    Corrected,
}

impl Values {
    /// Whether invalid ones have a count of their own.
    pub(crate) const fn are_validated(self) -> bool {
        matches!(self, Self::Validated | Self::Corrected)
    }
}
