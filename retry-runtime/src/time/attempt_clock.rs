use core::time::Duration;

use crate::time::moment::Moment;

/// What tells an attempt the time.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// A clock that can be read anywhere.
    Live(fn() -> Moment),
    /// What a timer of the user's said when it was asked last.
    Read(Moment),
    /// Nobody asks for the time.
    None,
}

impl Clock {
    pub(crate) fn now(self) -> Moment {
        match self {
            Self::Live(now) => now(),
            Self::Read(moment) => moment,
            Self::None => Moment::from_origin(Duration::ZERO),
        }
    }
}
