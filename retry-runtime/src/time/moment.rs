use std::time::Duration;

/// A point in time by the clock of some [`Timer`](crate::Timer): the time since that clock's own origin.
///
/// What the origin is, is the clock's affair, so moments of two clocks can't be compared. It must lie before every moment
/// that the clock is asked for.
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
    /// That long after the clock's origin.
    #[inline]
    pub const fn from_origin(since: Duration) -> Self {
        Self(since)
    }

    /// The time since the clock's origin.
    #[inline]
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// The time from `earlier` to this moment, zero where `earlier` is the later one.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The same, `None` where `earlier` is the later one.
    pub const fn checked_since(self, earlier: Self) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// That long after this moment, `None` where it is further than a clock reaches.
    #[inline]
    pub const fn checked_add(self, span: Duration) -> Option<Self> {
        match self.0.checked_add(span) {
            Some(since) => Some(Self(since)),
            None => None,
        }
    }
}
