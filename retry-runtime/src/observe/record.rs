use crate::enum_with_names::enum_with_names;

/// A log record, named after its event. Events without a record are only for observers.
///
/// Each variant lists its default level, which [`set_level`](crate::log::set_level) changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Record {
    /// [`EventData::Retrying`](crate::EventData::Retrying), and
    /// [`EventData::ItemsFailed`](crate::EventData::ItemsFailed) for items that are sent again: `WARN`.
    Retrying,
    /// [`EventData::Correcting`](crate::EventData::Correcting): `WARN`.
    Correcting,
    /// [`EventData::Hedging`](crate::EventData::Hedging): `INFO`.
    Hedging,
    /// [`EventData::AttemptFailed`](crate::EventData::AttemptFailed): `WARN`.
    AttemptFailed,
    /// [`EventData::FallingBack`](crate::EventData::FallingBack): `WARN`.
    FallingBack,
    /// [`EventData::FellBack`](crate::EventData::FellBack): `INFO`.
    FellBack,
    /// [`EventData::GaveUp`](crate::EventData::GaveUp), or in a batch
    /// [`EventData::ItemsFailed`](crate::EventData::ItemsFailed) for items that are given up: `WARN`.
    GaveUp,
    /// [`EventData::Succeeded`](crate::EventData::Succeeded) after a failure: `INFO`.
    Succeeded,
    /// [`EventData::BreakerOpened`](crate::EventData::BreakerOpened): `WARN`.
    BreakerOpened,
    /// [`EventData::BreakerHalfOpened`](crate::EventData::BreakerHalfOpened): `INFO`.
    BreakerHalfOpened,
    /// [`EventData::BreakerClosed`](crate::EventData::BreakerClosed): `INFO`.
    BreakerClosed,
    /// [`EventData::Nested`](crate::EventData::Nested): `WARN`.
    #[cfg(feature = "nested")]
    Nested,
    /// [`EventData::Waiting`](crate::EventData::Waiting): `DEBUG`.
    Waiting,
    /// [`EventData::Waited`](crate::EventData::Waited): `DEBUG`.
    Waited,
    /// [`EventData::LimiterPaused`](crate::EventData::LimiterPaused): `INFO`.
    LimiterPaused,
    /// [`EventData::LimiterResumed`](crate::EventData::LimiterResumed): `INFO`.
    LimiterResumed,
    /// [`EventData::LimitChanged`](crate::EventData::LimitChanged): `DEBUG`.
    LimitChanged,
    /// [`EventData::RateChanged`](crate::EventData::RateChanged): `DEBUG`.
    RateChanged,
}

enum_with_names! {
    /// The level of a log record: the levels of `tracing`, and [`Off`](Self::Off).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    Level:
    /// Not logged.
    Off,
    /// Something is broken.
    Error,
    /// Something needs attention.
    Warn,
    /// Information for operators.
    Info,
    /// Details for developers.
    Debug,
    /// Every detail.
    Trace,
}
