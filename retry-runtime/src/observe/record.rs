/// Which log record an event makes. Passed separately from the event, so that the compiler drops the other records at
/// each call site.
#[derive(Clone, Copy)]
pub(crate) enum Record {
    Retrying,
    Correcting,
    Hedging,
    AttemptFailed,
    FallingBack,
    FellBack,
    GaveUp,
    Succeeded,
    BreakerOpened,
    BreakerHalfOpened,
    BreakerClosed,
    #[cfg(feature = "nested")]
    Nested,
    Waiting,
    Waited,
    LimiterPaused,
    LimiterResumed,
    LimitChanged,
    RateChanged,
}
