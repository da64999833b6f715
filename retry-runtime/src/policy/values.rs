/// What a call does with the values of its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// The call returns the first.
    Taken,
    /// The call checks each, and may reject it.
    Validated,
    /// The call has rejected one, and repairs it.
    Corrected,
}

impl Values {
    /// Whether invalid values have a count of their own.
    pub(crate) const fn are_validated(self) -> bool {
        matches!(self, Self::Validated | Self::Corrected)
    }
}
