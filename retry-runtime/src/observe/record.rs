use tracing::Level;

use crate::observe::event::Event;

/// A log record, by the event that it is about. Events without a record are for observers alone.
///
/// The level is the one that it has unless [`set_level`](crate::log::set_level) changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
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

impl Record {
    /// The one of that event.
    #[expect(clippy::inline_always, reason = "see `log_for`")]
    #[inline(always)]
    pub(crate) fn of(event: &Event<'_>) -> Option<Self> {
        Some(match event {
            Event::Started { .. } | Event::Progressed { .. } => return None,
            Event::Retrying { .. } | Event::ItemsFailed { follows: Ok(_), .. } => Self::Retrying,
            Event::Correcting { .. } => Self::Correcting,
            Event::Hedging { .. } => Self::Hedging,
            Event::AttemptFailed { .. } => Self::AttemptFailed,
            Event::FallingBack { .. } => Self::FallingBack,
            Event::FellBack { .. } => Self::FellBack,
            Event::GaveUp { .. }
            | Event::ItemsFailed {
                follows: Err(_), ..
            } => Self::GaveUp,
            Event::Succeeded { .. } => Self::Succeeded,
            Event::BreakerOpened { .. } => Self::BreakerOpened,
            Event::BreakerHalfOpened { .. } => Self::BreakerHalfOpened,
            Event::BreakerClosed { .. } => Self::BreakerClosed,
            #[cfg(feature = "nested")]
            Event::Nested { .. } => Self::Nested,
            Event::Waiting { .. } => Self::Waiting,
            Event::Waited { .. } => Self::Waited,
            Event::LimiterPaused { .. } => Self::LimiterPaused,
            Event::LimiterResumed { .. } => Self::LimiterResumed,
            Event::LimitChanged { .. } => Self::LimitChanged,
            Event::RateChanged { .. } => Self::RateChanged,
        })
    }

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
