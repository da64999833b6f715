use crate::listed::listed;

/// The state of a breaker or a limiter, returned by [`AdmissionControl::state`]. `None` is unknown.
///
/// [`AdmissionControl::state`]: crate::AdmissionControl::state
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AdmissionState {
    /// The state of a breaker's circuit.
    pub circuit: Option<BreakerState>,
    /// The sum of the costs of the attempts that run.
    pub running: Option<u64>,
    /// The number of attempts that wait to be admitted.
    pub waiting: Option<usize>,
    /// The number of attempts that may run at a time.
    pub limit: Option<u32>,
    /// The cost that may begin per second; infinite without a limit.
    pub rate: Option<f64>,
}

/// The state of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BreakerState {
    /// Every attempt is admitted.
    Closed,
    /// Every attempt is rejected.
    Open,
    /// Trial calls are admitted.
    HalfOpen,
    /// Every attempt is rejected until the breaker is reset: `Breaker::force_open`.
    ForcedOpen,
    /// Every attempt is admitted and none is counted until the breaker is reset: `Breaker::force_closed`.
    ForcedClosed,
}

listed!(BreakerState:
    Closed = "closed", Open = "open", HalfOpen = "half open", ForcedOpen = "forced open",
    ForcedClosed = "forced closed"
);
