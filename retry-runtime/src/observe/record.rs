#[cfg(feature = "tracing")]
use tracing::Level;

/// A log record, by the event that it is about. Events without a record are for observers alone.
///
/// The level is the one that it has unless [`set_level`](crate::log::set_level) changes it.
// Passed separately from the event, so that the compiler drops the other records at each call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(
    not(feature = "tracing"),
    expect(unreachable_pub, reason = "without a log it has no levels to set")
)]
pub enum Record {
    /// [`Event::Retrying`](crate::Event::Retrying), and [`Event::ItemsFailed`](crate::Event::ItemsFailed) of items that are
    /// sent again: `WARN`.
    Retrying,
    /// [`Event::Correcting`](crate::Event::Correcting): `WARN`.
    Correcting,
    /// [`Event::Hedging`](crate::Event::Hedging): `INFO`.
    Hedging,
    /// [`Event::AttemptFailed`](crate::Event::AttemptFailed): `WARN`.
    AttemptFailed,
    /// [`Event::FallingBack`](crate::Event::FallingBack): `WARN`.
    FallingBack,
    /// [`Event::FellBack`](crate::Event::FellBack): `INFO`.
    FellBack,
    /// [`Event::GaveUp`](crate::Event::GaveUp), but in a batch [`Event::ItemsFailed`](crate::Event::ItemsFailed) of items that
    /// are given up: `WARN`.
    GaveUp,
    /// [`Event::Succeeded`](crate::Event::Succeeded) after a failure: `INFO`.
    Succeeded,
    /// [`Event::BreakerOpened`](crate::Event::BreakerOpened): `WARN`.
    BreakerOpened,
    /// [`Event::BreakerHalfOpened`](crate::Event::BreakerHalfOpened): `INFO`.
    BreakerHalfOpened,
    /// [`Event::BreakerClosed`](crate::Event::BreakerClosed): `INFO`.
    BreakerClosed,
    /// [`Event::Nested`](crate::Event::Nested): `WARN`.
    #[cfg(feature = "nested")]
    Nested,
    /// [`Event::Waiting`](crate::Event::Waiting): `DEBUG`.
    Waiting,
    /// [`Event::Waited`](crate::Event::Waited): `DEBUG`.
    Waited,
    /// [`Event::LimiterPaused`](crate::Event::LimiterPaused): `INFO`.
    LimiterPaused,
    /// [`Event::LimiterResumed`](crate::Event::LimiterResumed): `INFO`.
    LimiterResumed,
    /// [`Event::LimitChanged`](crate::Event::LimitChanged): `DEBUG`.
    LimitChanged,
    /// [`Event::RateChanged`](crate::Event::RateChanged): `DEBUG`.
    RateChanged,
}

#[cfg(feature = "tracing")]
impl Record {
    /// The level of the documentation.
    pub(crate) const fn level(self) -> Level {
        match self {
            Self::Retrying
            | Self::Correcting
            | Self::AttemptFailed
            | Self::FallingBack
            | Self::GaveUp
            | Self::BreakerOpened => Level::WARN,
            #[cfg(feature = "nested")]
            Self::Nested => Level::WARN,
            Self::Hedging
            | Self::FellBack
            | Self::Succeeded
            | Self::BreakerHalfOpened
            | Self::BreakerClosed
            | Self::LimiterPaused
            | Self::LimiterResumed => Level::INFO,
            Self::Waiting | Self::Waited | Self::LimitChanged | Self::RateChanged => Level::DEBUG,
        }
    }
}
