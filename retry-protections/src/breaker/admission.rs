use std::task::Waker;
use std::time::Duration;

use retry_runtime::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, Change, Changes, Permit,
};

use crate::breaker::circuit::Breaker;

/// The bits of a permit's number. The highest bit is set if the attempt is admitted. It is followed by the time of the
/// admission in milliseconds (32 bits) and the number of the circuit's state at that time (31 bits). It takes years to
/// change the state as often as those can count.
const ADMITTED: u64 = 1 << 63;
const STATE: u64 = (1 << 31) - 1;

/// The contents of an admitted attempt's permit.
#[derive(Clone, Copy)]
pub(super) struct Admitted {
    /// The lowest 31 bits of the number of the circuit's state.
    pub(super) state: u64,
    /// The time of the admission in milliseconds from the clock's origin, lowest 32 bits. 0 if the breaker doesn't
    /// measure attempts.
    pub(super) at: u32,
}

impl Admitted {
    fn of(permit: &Permit) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the other bits are cut off"
        )]
        let at = (permit.number() >> 31) as u32;
        let is_admitted = permit.number() & ADMITTED != 0;
        is_admitted.then_some(Self {
            state: permit.number() & STATE,
            at,
        })
    }

    pub(super) fn is_of(self, state: u64) -> bool {
        self.state == state & STATE
    }
}

impl Breaker {
    /// Creates the permit of an attempt that may begin now, in the state with this number.
    #[inline]
    fn permit(&self, state: u64, half_opens: bool, cost: u32) -> Permit {
        let number = ADMITTED | u64::from(self.admission_time()) << 31 | state & STATE;
        if half_opens {
            Permit::half_opening(number, cost)
        } else {
            Permit::new(number, cost)
        }
    }

    #[inline]
    fn admit(&self, cost: u32) -> Option<Permit> {
        if let Some(state) = self.closed_state() {
            return Some(self.permit(state, false, cost));
        }
        let (state, half_opens) = self.admit_unless_open()?;
        Some(self.permit(state, half_opens, cost))
    }
}

impl AdmissionControl for Breaker {
    #[inline]
    fn enter(&self, cost: u32) -> Permit {
        let admitted = self.admit(cost);
        admitted.unwrap_or_else(|| Permit::new(self.circuit().waiters.enter(), cost))
    }

    #[inline]
    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        if permit.number() & ADMITTED != 0 {
            return Admission::Admitted;
        }
        self.poll_waiting(permit, waker)
    }

    #[inline]
    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        let Some(admitted) = Admitted::of(&permit) else {
            let left = self.circuit().waiters.leave(permit.number());
            drop(left);
            return [None, None];
        };
        let is_current = || {
            self.closed_state()
                .is_some_and(|state| admitted.is_of(state))
        };
        if outcome == AttemptOutcome::Success && is_current() && self.is_granted() {
            return [None, None];
        }
        let transition = self.record_under_lock(admitted, outcome);
        [transition.map(Change::Breaker), None]
    }

    fn is_open(&self) -> bool {
        self.rejects_all(&self.circuit())
    }

    fn half_open_in(&self) -> Option<Duration> {
        self.circuit().phase.half_open_in()
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.made.max_wait
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

impl Breaker {
    #[cold]
    fn poll_waiting(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        let number = permit.number();
        loop {
            // A waker runs the executor's code, so none is cloned or dropped under the lock.
            let waker = waker.clone();
            let mut circuit = self.circuit();
            let before = circuit.waiters.keep(number, waker);
            let wait = self.wait(&circuit, number);
            drop(circuit);
            drop(before);
            if let Some((ahead, at_least)) = wait {
                return Admission::Wait { ahead, at_least };
            }
            if let Some(admitted) = self.admit(permit.cost()) {
                let left = self.circuit().waiters.begin(number);
                drop(left);
                *permit = admitted;
                return Admission::Admitted;
            }
        }
    }
}
