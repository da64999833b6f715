use core::time::Duration;

#[cfg(feature = "std")]
use crate::time::clock;

/// A point in time on the clock of a [`Timer`](crate::seam::Timer): the time since that clock's own origin.
///
/// Each clock chooses its own origin, so moments of two clocks can't be compared. The origin must be earlier than every
/// moment that the clock returns.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::seam::Moment;
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
    /// The last time that was read from the user's timer.
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

/// The values of the system's clock and of another clock when a wait on the other clock started. Without the feature
/// `std`, both are the clock of a call's timer.
#[derive(Clone, Copy)]
pub(crate) struct Clocks {
    pub(crate) own: Moment,
    pub(crate) other: Moment,
}

impl Clocks {
    pub(crate) fn read(other: impl FnOnce() -> Moment) -> Self {
        // Read in this order, and in the reverse order in `catch_up`, so that no time is lost if both clocks run.
        #[cfg(feature = "std")]
        let own = clock::now();
        let other = other();
        #[cfg(not(feature = "std"))]
        let own = other;
        Self { own, other }
    }

    /// Advances the system's clock, on this thread, by the time that has passed only on the other clock. Otherwise a
    /// clock that a runtime has paused would not advance while a thread sleeps, or a test's clock would not follow
    /// simulated time, and code that waits for a moment would wait forever.
    ///
    /// Adds at most the planned wait, and nothing for a wait without a planned end, because the errors of a coarse
    /// clock would add up.
    pub(crate) fn catch_up(self, other: Moment, wait: Option<Duration>) {
        let passed = other.since(self.other).min(wait.unwrap_or_default());
        #[cfg(feature = "std")]
        clock::add_missed(passed.saturating_sub(clock::now().since(self.own)));
        #[cfg(not(feature = "std"))]
        let _ = passed;
    }
}
