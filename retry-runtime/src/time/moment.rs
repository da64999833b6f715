use core::time::Duration;

/// A point in time on the clock of a [`Timer`](crate::Timer): the time since that clock's own origin.
///
/// Each clock chooses its own origin, so moments of two clocks can't be compared. The origin must be earlier than every
/// moment that the clock returns.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::Moment;
///
/// const NOON: Moment = Moment::from_origin(Duration::from_secs(12 * 60 * 60));
/// let later = NOON.checked_add(Duration::from_secs(5)).unwrap();
/// assert_eq!(later.since(NOON), Duration::from_secs(5));
/// assert_eq!(NOON.since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(Duration);

impl Moment {
    /// The moment `since` after the clock's origin.
    #[inline]
    pub const fn from_origin(since: Duration) -> Self {
        Self(since)
    }

    /// The time since the clock's origin.
    #[inline]
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// The time from `earlier` to this moment, or zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The time since `earlier`. `None` if `earlier` is later.
    #[inline]
    pub const fn checked_since(self, earlier: Self) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// The moment `span` after this one, or `None` if the clock can't represent it.
    #[inline]
    pub const fn checked_add(self, span: Duration) -> Option<Self> {
        match self.0.checked_add(span) {
            Some(since) => Some(Self(since)),
            None => None,
        }
    }
}

/// The clock that an attempt reads.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// A clock that can be read anywhere.
    Live(fn() -> Moment),
    /// The last value of the user's timer.
    Read(Moment),
    /// The time is not used.
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
