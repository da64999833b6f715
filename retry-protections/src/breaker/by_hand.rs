use std::time::Duration;

use retry_runtime::macro_support::changed;
use retry_runtime::{BreakerNumbers, Cause, Transition};

use crate::breaker::circuit::{Breaker, Phase, wake};
use crate::breaker::setters::{at_least_a_milli, millionths};
use crate::out_of_range::OutOfRange;

/// What operators do, while it is used.
impl Breaker {
    /// Opens the breaker until somebody resets it or forces it closed: for maintenance, or to take the load off a
    /// server at once.
    ///
    /// Whatever operators change about a breaker leaves an `INFO` in the log.
    ///
    /// ```
    /// use retry_protections::Breaker;
    /// use retry_runtime::{BreakerState, retry};
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
        self.force(Phase::ForcedOpen, "forced open");
        self.tell(Transition::Opened {
            cause: Cause::Forced,
            open_for: Duration::MAX,
        });
    }

    /// Switches the breaker off until somebody resets it or forces it open: everything is let through, and nothing
    /// counts.
    pub fn force_closed(&self) {
        self.force(Phase::ForcedClosed, "forced closed");
        self.tell(Transition::Closed);
    }

    /// Closes the breaker, and forgets what it counted and that anybody forced it. Its numbers stay as they
    /// were last set.
    pub fn reset(&self) {
        self.force(Phase::Closed, "reset");
        self.tell(Transition::Closed);
    }

    fn force(&self, phase: Phase, how: &str) {
        let mut circuit = self.circuit();
        self.close(&mut circuit);
        self.turn(&mut circuit, phase);
        wake(circuit, true);
        changed("breaker", &how);
    }

    /// Changes the [`ratio`](Self::ratio) from now on. Fails and changes nothing if it is not above 0, or above 1.
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
        millionths(ratio).ok_or(OutOfRange)?;
        self.set_numbers(Some(ratio), None);
        Ok(())
    }

    /// Changes [`open_for`](Self::open_for), from the next time that it opens.
    pub fn set_open_for(&self, open_for: Duration) {
        self.set_numbers(None, Some(open_for));
    }

    /// Changes the numbers that configuration names, from now on.
    pub fn set(&self, numbers: BreakerNumbers) {
        self.set_numbers(numbers.ratio(), numbers.open_for());
    }

    /// Sets both at once, so that no failure meets one that is new beside one that is old. The
    /// ratio is in range.
    pub(crate) fn set_numbers(&self, ratio: Option<f64>, open_for: Option<Duration>) {
        let mut circuit = self.circuit();
        let rule = circuit.changed.get_or_insert(self.made);
        let before = *rule;
        rule.ratio = ratio.and_then(millionths).unwrap_or(rule.ratio);
        rule.open_for = open_for.map_or(rule.open_for, at_least_a_milli);
        let after = *rule;
        drop(circuit);
        // A file that is read again has mostly the numbers of before.
        if let Some(ratio) = ratio.filter(|_| after.ratio != before.ratio) {
            changed("breaker's ratio", &ratio);
        }
        if let Some(open_for) = open_for.filter(|_| after.open_for != before.open_for) {
            changed("breaker's open_for", &format_args!("{open_for:?}"));
        }
    }
}
