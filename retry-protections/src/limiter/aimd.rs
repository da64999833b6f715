use std::time::Duration;

use retry_runtime::Kind;
use retry_runtime::seam::{AdmissionState, AttemptOutcome, Change};

use crate::limiter::gate::{Gate, Now};

/// The number of attempts that may run at a time. It rises by one for each round of successes. It falls for each round
/// with a failure that overload may have caused: by half the share of attempts that fail, as in DCTCP (RFC 8257), but
/// by no more than a tenth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aimd {
    pub(super) limit: f64,
    pub(super) least: u32,
    pub(super) most: u32,
    /// The cost of the attempts that run.
    pub(super) running: u64,
    /// The number of times that the limit was lowered. An attempt that started before the last reduction doesn't lower
    /// it again.
    lowered: u32,
    /// The share of attempts that fail, averaged over about [`AVERAGED_OVER`] attempts. 1 at first.
    failed: f64,
}

/// The smallest factor by which a failure lowers the limit.
const LOWER_FACTOR: f64 = 0.9;
/// The number of attempts over which the share of failures is averaged.
const AVERAGED_OVER: f64 = 64.0;

impl Aimd {
    pub(super) const fn new() -> Self {
        Self {
            limit: 20.0,
            least: 1,
            most: 200,
            running: 0,
            lowered: 0,
            failed: 1.0,
        }
    }

    /// Returns a copy with the limit clamped to these bounds.
    pub(super) const fn within(self, limit: f64, least: u32, most: u32) -> Self {
        Self {
            limit: limit.clamp(least as f64, most as f64),
            least,
            most,
            ..self
        }
    }

    fn set_limit(&mut self, limit: f64) {
        *self = self.within(limit, self.least, self.most);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between the bounds"
    )]
    pub(super) const fn limit(&self) -> u32 {
        self.limit as u32
    }

    /// Updates the share of failures: `failed` is 1 for a failure, 0 for a success.
    fn update_failed(&mut self, failed: f64) {
        self.failed += (failed - self.failed) / AVERAGED_OVER;
    }

    /// Raises the limit if at least half of it is in use. Otherwise, successes don't show that the server can handle a
    /// higher limit.
    fn raise(&mut self, cost: u32) {
        if self.running.saturating_mul(2) >= u64::from(self.limit()) {
            // An attempt that costs more than the limit is a whole round.
            self.set_limit(self.limit + (f64::from(cost) / self.limit).min(1.0));
        }
    }

    fn lower(&mut self) -> Option<Change> {
        let before = self.limit();
        self.set_limit(self.limit * (1.0 - self.failed / 2.0).max(LOWER_FACTOR));
        self.lowered = self.lowered.wrapping_add(1);
        let limit = self.limit();
        (limit < before).then_some(Change::Limit(limit))
    }
}

impl Gate for Aimd {
    fn state(&self) -> AdmissionState {
        let mut state = AdmissionState::default();
        state.running = Some(self.running);
        state.limit = Some(self.limit());
        state
    }

    #[inline]
    fn admit(&mut self, cost: u32, _: impl Now) -> Result<u32, Option<Duration>> {
        let running = self.running.saturating_add(u64::from(cost));
        // An attempt that costs more than the limit runs alone.
        if running > u64::from(self.limit()) && self.running > 0 {
            return Err(None);
        }
        self.running = running;
        Ok(self.lowered)
    }

    #[inline]
    fn leave(
        &mut self,
        cost: u32,
        stamp: u32,
        outcome: AttemptOutcome,
        _: impl Now,
    ) -> Option<Change> {
        let is_current = stamp == self.lowered;
        let change = match outcome {
            AttemptOutcome::Success => {
                self.update_failed(0.0);
                self.raise(cost);
                None
            }
            AttemptOutcome::Failure {
                kind: Kind::Transient | Kind::Throttled | Kind::Timeout,
                ..
            } => {
                self.update_failed(1.0);
                is_current.then(|| self.lower()).flatten()
            }
            _ => None,
        };
        self.running = self.running.saturating_sub(u64::from(cost));
        change
    }
}
