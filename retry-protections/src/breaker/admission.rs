use std::task::Waker;
use std::time::Duration;

use retry_runtime::Kind;
use retry_runtime::seam::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, Change, Changes, Permit,
    Transition,
};

use crate::breaker::circuit::{Breaker, Circuit, Phase, wake_all};
use crate::breaker::settings::LONGEST_RUN;
use crate::clock;
use crate::sync::MutexGuard;

/// The bits of a permit's number. The highest bit is set if the attempt is admitted. It is followed by the time of the
/// admission in milliseconds (32 bits) and the number of the circuit's state at that time (31 bits; repeats only after
/// years). If the highest bit is not set, the number is the waiting attempt's number in the line.
const ADMITTED: u64 = 1 << 63;
const STATE: u64 = (1 << 31) - 1;

impl Breaker {
    /// Releases the lock, and creates the permit of an attempt that was just admitted.
    fn new_permit(&self, circuit: MutexGuard<'_, Circuit>, half_opens: bool, cost: u32) -> Permit {
        let state = circuit.number & STATE;
        drop(circuit);
        let is_timed = self.initial.hung_after > 0 || self.initial.slow_after > 0;
        let at = if is_timed { millis() } else { 0 };
        let number = ADMITTED | u64::from(at) << 31 | state;
        if half_opens {
            self.report(Transition::HalfOpened);
            Permit::half_opening(number, cost)
        } else {
            Permit::new(number, cost)
        }
    }
}

impl AdmissionControl for Breaker {
    fn enter(&self, cost: u32) -> Permit {
        let mut circuit = self.lock_circuit();
        let settings = self.settings(&circuit);
        match circuit.admit(&settings) {
            Some(half_opens) => self.new_permit(circuit, half_opens, cost),
            None => Permit::new(circuit.waiting.enter(), cost),
        }
    }

    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        let number = permit.number();
        if number & ADMITTED != 0 {
            return Admission::Admitted;
        }
        // A waker runs the executor's code, so none is cloned or dropped under the lock.
        let waker = waker.clone();
        let mut circuit = self.lock_circuit();
        let settings = self.settings(&circuit);
        let ahead = circuit.waiting.position(number).unwrap_or_default();
        match circuit.admit_waiting(&settings, ahead) {
            Ok(half_opens) => {
                let _left = circuit.waiting.remove(number);
                *permit = self.new_permit(circuit, half_opens, permit.cost());
                Admission::Admitted
            }
            Err((number, at_least)) => {
                let _before = circuit.waiting.store_waker(ahead, waker, None);
                drop(circuit);
                Admission::Wait {
                    ahead: number,
                    at_least,
                }
            }
        }
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        let number = permit.number();
        let mut circuit = self.lock_circuit();
        if number & ADMITTED == 0 {
            let _left = circuit.waiting.remove(number);
            drop(circuit);
            return [None, None];
        }
        if (number ^ circuit.number) & STATE != 0 {
            return [None, None];
        }
        let settings = self.settings(&circuit);
        let is_hung = ran_for(&permit, self.initial.hung_after);
        let is_slow = ran_for(&permit, self.initial.slow_after);
        let is_failure = |kind| match kind {
            Kind::Transient | Kind::Timeout => true,
            Kind::Throttled => self.initial.counts_throttled,
            _ => false,
        };
        let outcome = match outcome {
            AttemptOutcome::Dropped if is_hung => AttemptOutcome::Failure {
                kind: Kind::Timeout,
                hint: None,
            },
            AttemptOutcome::Failure { kind, .. } if !is_failure(kind) => AttemptOutcome::Ignored,
            outcome => outcome,
        };
        let transition = circuit.record(&settings, outcome, is_slow);
        if transition.is_some() || matches!(circuit.phase, Phase::HalfOpen(_)) {
            wake_all(circuit);
        } else {
            drop(circuit);
        }
        transition.inspect(|transition| self.report(*transition));
        [transition.map(Change::Breaker), None]
    }

    fn is_open(&self) -> bool {
        Self::is_open(self)
    }

    fn half_open_in(&self) -> Option<Duration> {
        self.lock_circuit().half_open_in()
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.initial.max_wait
    }

    fn state(&self) -> AdmissionState {
        let mut state = AdmissionState::default();
        state.circuit = Some(Self::state(self));
        state
    }

    fn handles_throttling(&self) -> bool {
        false
    }
}

/// Returns true if the attempt ran for at least `least` milliseconds. False if `least` is 0.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the other bits are cut off"
)]
fn ran_for(permit: &Permit, least: u32) -> bool {
    let ran = || millis().wrapping_sub((permit.number() >> 31) as u32);
    least > 0 && (least..=LONGEST_RUN).contains(&ran())
}

/// The time in milliseconds, lowest 32 bits. Differences below 49 days are exact.
#[expect(clippy::cast_possible_truncation, reason = "on purpose")]
fn millis() -> u32 {
    clock::now().since_origin().as_millis() as u32
}
