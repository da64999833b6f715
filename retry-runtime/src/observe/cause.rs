use core::fmt;

/// Why a breaker opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// Too large a part of the calls failed.
    Ratio,
    /// Too many calls failed in a row.
    Consecutive,
    /// Too large a part of the calls was slow.
    Slow,
    /// A trial call failed.
    Trial,
    /// An operator opened it.
    Forced,
}

impl Cause {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ratio => "failure ratio",
            Self::Consecutive => "consecutive failures",
            Self::Slow => "slow calls",
            Self::Forced => "forced",
            Self::Trial => "trial call failed",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
