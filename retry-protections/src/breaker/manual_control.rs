use std::time::Duration;

use retry_runtime::macro_support::log_change;
use retry_runtime::{Cause, configuration::BreakerSettings, seam::Transition};

use crate::breaker::circuit::{Breaker, Phase, wake_all};
use crate::breaker::setters::min_one_milli;
use crate::breaker::settings::is_ratio;
use crate::out_of_range::OutOfRange;

/// Methods for operators, while the breaker is in use.
impl Breaker {
    /// Opens the breaker until it is reset or forced closed: for maintenance, or to take the load off a server at once.
    ///
    /// Each change by an operator is logged at level `INFO`.
    ///
    /// ```
    /// use retry_protections::Breaker;
    /// use retry_runtime::seam::BreakerState;
    /// use retry_runtime::retry;
    ///
    /// static STORE: Breaker = Breaker::new();
    ///
    /// #[retry(breaker = &STORE)]
    /// fn load() -> std::io::Result<u32> {
    ///     Ok(42)
    /// }
    ///
    /// // From an admin endpoint:
    /// STORE.force_open();
    /// assert!(load().is_err());
    /// STORE.reset();
    /// assert!(load().is_ok());
    /// # assert_eq!(STORE.state(), BreakerState::Closed);
    /// ```
    pub fn force_open(&self) {
        let opened = Transition::Opened {
            cause: Cause::Forced,
            open_for: Duration::MAX,
        };
        self.force(Phase::ForcedOpen, "forced open", opened);
    }

    /// Switches the breaker off until it is reset or forced open: every attempt is admitted, and none is counted.
    pub fn force_closed(&self) {
        self.force(Phase::ForcedClosed, "forced closed", Transition::Closed);
    }

    /// Closes the breaker, clears its counts, and ends `force_open` and `force_closed`. Changed settings stay in force.
    pub fn reset(&self) {
        self.force(Phase::Closed, "reset", Transition::Closed);
    }

    fn force(&self, phase: Phase, how: &str, transition: Transition) {
        let mut circuit = self.lock_circuit();
        circuit.set_phase(phase);
        wake_all(circuit);
        log_change("breaker", &how);
        self.report(transition);
    }

    /// Changes the [`ratio`](Self::ratio) from now on. Fails and changes nothing unless the ratio is above 0 and at
    /// most 1.
    ///
    /// ```
    /// use retry_protections::Breaker;
    ///
    /// static STORE: Breaker = Breaker::new();
    ///
    /// assert!(STORE.set_ratio(0.95).is_ok());
    /// assert!(STORE.set_ratio(95.0).is_err());
    /// ```
    pub fn set_ratio(&self, ratio: f64) -> Result<(), OutOfRange> {
        let ratio = Some(ratio).filter(|ratio| is_ratio(*ratio));
        self.set_numbers(Some(ratio.ok_or(OutOfRange)?), None);
        Ok(())
    }

    /// Changes [`open_for`](Self::open_for), from the next time that the breaker opens.
    pub fn set_open_for(&self, open_for: Duration) {
        self.set_numbers(None, Some(open_for));
    }

    /// Applies these settings from now on. A setting that has no value stays the same.
    pub fn set(&self, numbers: BreakerSettings) {
        self.set_numbers(numbers.ratio, numbers.open_for);
    }

    /// Changes both settings under one lock, so that no attempt uses one new and one old value. The ratio has already
    /// been checked.
    pub(crate) fn set_numbers(&self, ratio: Option<f64>, open_for: Option<Duration>) {
        let mut circuit = self.lock_circuit();
        let settings = circuit.changed.get_or_insert(self.initial);
        let before = *settings;
        settings.ratio = ratio.unwrap_or(settings.ratio);
        settings.open_for = open_for.map_or(settings.open_for, min_one_milli);
        let after = *settings;
        drop(circuit);
        // Log changes only: a file that is read again mostly contains the same values.
        if let Some(ratio) = ratio.filter(|ratio| ratio.total_cmp(&before.ratio).is_ne()) {
            log_change("breaker's ratio", &ratio);
        }
        if let Some(open_for) = open_for.filter(|_| after.open_for != before.open_for) {
            log_change("breaker's open_for", &format_args!("{open_for:?}"));
        }
    }
}
