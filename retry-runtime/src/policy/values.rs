/// A call's handling of the values that its attempts return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// The call returns the first value without a check.
    #[default]
    Taken,
    /// The call checks each value, and may reject it.
    Validated,
    /// The call has rejected a value, and corrects it.
    Corrected,
}

impl Values {
    /// Returns true if invalid values have their own count.
    pub(crate) const fn are_validated(self) -> bool {
        matches!(self, Self::Validated | Self::Corrected)
    }
}
