use std::mem::{self, ManuallyDrop};
use std::task::Waker;
use std::time::Duration;

use retry_runtime::Kind;
use retry_runtime::seam::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, Change, Changes, Moment, Permit,
};

use crate::clock;
use crate::limiter::gate::Gate;
use crate::limiter::slow_start::SlowStart;
use crate::line::Line;
use crate::sync::{Mutex, MutexGuard, lock};

/// The attempts that wait for a gate, in order of arrival. No attempt overtakes the first, regardless of its cost,
/// unless the first misses its turn: an attempt that is no longer polled would otherwise block all others forever.
///
/// All gates use this queue, which applies a server's hint to all calls: no attempt starts until the hint has passed.
#[derive(Debug)]
pub(crate) struct Queue<G> {
    /// The initial gate: setters change it before use, and [`Keyed`](crate::Keyed) compares the current gate with it.
    pub(crate) new: G,
    pub(crate) max_wait: Option<Duration>,
    /// The number of attempts that may wait at a time.
    pub(crate) most_waiting: usize,
    state: Mutex<State<G>>,
}

#[derive(Debug)]
pub(crate) struct State<G> {
    pub(crate) gate: G,
    line: Line,
    /// The number of attempts that run.
    running: u32,
    /// The moving average of `running`, over about [`AVERAGED_OVER`] attempts. Never below `running` when an attempt
    /// starts.
    average_running: f64,
    /// The last pause. `None` once its slow start is over.
    pause: Option<SlowStart>,
    /// The number of pauses so far.
    pauses: u32,
}

/// The highest bit of a permit's number is set if the attempt was admitted. It is followed by the number of pauses
/// before the admission (31 bits) and the gate's stamp (32 bits). If the highest bit is not set, the number is the
/// waiting attempt's number in the line.
const ADMITTED: u64 = 1 << 63;
/// The number of a permit for which the queue had no room.
const NO_ROOM: u64 = ADMITTED - 1;
const PAUSE_BITS: u64 = ADMITTED - (1 << 32);

/// The number of attempts over which `running` is averaged: it may fall to 0 before the next attempt starts.
const AVERAGED_OVER: f64 = 64.0;

impl<G: Copy> Queue<G> {
    pub(crate) const fn new(gate: G) -> Self {
        Self::with_gate(gate, gate)
    }

    /// Replaces the gate of a queue that has not been used.
    pub(crate) const fn replace(&mut self, gate: G) {
        self.new = gate;
        let state = Mutex::new(State::new(gate));
        // A `const fn` can't drop the old state, but it contains nothing that needs to be dropped.
        let _unused = ManuallyDrop::new(mem::replace(&mut self.state, state));
    }
}

impl<G> Queue<G> {
    /// A queue in front of `gate`, which was created with the settings of `new`.
    pub(crate) const fn with_gate(new: G, gate: G) -> Self {
        Self {
            new,
            max_wait: None,
            most_waiting: usize::MAX,
            state: Mutex::new(State::new(gate)),
        }
    }

    /// Locks the gate and the waiting attempts, to read them or to change the gate without waking an attempt.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State<G>> {
        lock(&self.state)
    }

    /// Changes the gate, then wakes the first waiting attempt.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut G) -> T) -> T {
        let mut state = self.lock();
        let made = work(&mut state.gate);
        wake_first(state);
        made
    }

    /// Returns true if no attempt waits, no pause has an effect any more, and `gate_is` returns true.
    pub(crate) fn can_evict(&self, gate_is: impl FnOnce(&G, Moment) -> bool) -> bool {
        let (state, now) = (self.lock(), clock::now());
        let is_over = state
            .pause
            .as_ref()
            .is_none_or(|pause| pause.is_unlimited(now));
        state.waiting() == 0 && is_over && gate_is(&state.gate, now)
    }
}

impl<G: Gate> AdmissionControl for Queue<G> {
    fn enter(&self, cost: u32) -> Permit {
        let mut state = self.lock();
        if state.waiting() == 0 {
            if let Ok(number) = state.admit(cost) {
                return Permit::new(number, cost);
            }
        }
        let number = if state.line.is_full(self.most_waiting) {
            NO_ROOM
        } else {
            state.line.enter()
        };
        Permit::new(number, cost)
    }

    #[inline]
    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        if permit.number() & ADMITTED != 0 {
            return Admission::Admitted;
        }
        // A waker runs the executor's code, so none is cloned or dropped under the lock.
        self.poll_waiting(permit, waker.clone())
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        let mut state = self.lock();
        let (changes, _left) = if permit.number() & ADMITTED == 0 {
            ([None, None], state.line.remove(permit.number()))
        } else {
            (state.record_end(&permit, outcome), None)
        };
        wake_first(state);
        changes
    }

    #[inline]
    fn state(&self) -> AdmissionState {
        let state = self.lock();
        let mut admission = state.gate.state();
        admission.waiting = Some(state.waiting());
        admission
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.max_wait
    }
}

impl<G: Gate> Queue<G> {
    #[cold]
    #[inline(never)]
    fn poll_waiting(&self, permit: &mut Permit, waker: Waker) -> Admission {
        let mut state = self.lock();
        let Some(ahead) = state.line.position(permit.number()) else {
            return Admission::QueueFull;
        };
        let (mut at_least, mut due) = (state.paused_for(), None);
        if state.line.is_next(ahead) {
            match state.admit(permit.cost()) {
                Ok(number) => {
                    let _served = state.line.remove(permit.number());
                    *permit = Permit::new(number, permit.cost());
                    wake_first(state);
                    return Admission::Admitted;
                }
                Err(wait) => {
                    at_least = wait;
                    due = wait.and_then(|wait| clock::now().checked_add(wait));
                }
            }
        }
        let called = state.line.check_ahead(ahead);
        let _before = state.line.store_waker(ahead, waker, due);
        drop(state);
        called.into_iter().for_each(Waker::wake);
        Admission::Wait { ahead, at_least }
    }
}

impl<G> State<G> {
    const fn new(gate: G) -> Self {
        Self {
            gate,
            line: Line::new(),
            running: 0,
            average_running: 0.0,
            pause: None,
            pauses: 0,
        }
    }

    /// The number of attempts that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.line.len()
    }

    /// The number of waiting attempts that the pause and its slow start allow to start now.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates"
    )]
    pub(crate) fn ready(&self) -> usize {
        let room = |pause: &SlowStart| pause.room(clock::now()) as usize;
        self.waiting()
            .min(self.pause.as_ref().map_or(usize::MAX, room))
    }

    /// The time until the end of a pause requested by the server. `None` if there is no pause.
    pub(crate) fn paused_for(&self) -> Option<Duration> {
        self.pause.as_ref()?.paused_for(clock::now())
    }
}

impl<G: Gate> State<G> {
    /// Admits an attempt. Returns the number of its permit, or the time until the next poll.
    fn admit(&mut self, cost: u32) -> Result<u64, Option<Duration>> {
        if let Some(pause) = &self.pause {
            pause.admits(self.gate.has_pace(), clock::now())?;
        }
        let stamp = self.gate.admit(cost, clock::now)?;
        if let Some(pause) = &mut self.pause {
            pause.running += 1.0;
        }
        self.running = self.running.saturating_add(1);
        self.average_running = self.average_running.max(self.running.into());
        Ok(ADMITTED | self.pause_bits() | u64::from(stamp))
    }

    /// Records an outcome. The gate comes first, because it may have charged the attempt that causes a pause.
    fn record_end(&mut self, permit: &Permit, outcome: AttemptOutcome) -> Changes {
        #[expect(clippy::cast_possible_truncation, reason = "the stamp is the low half")]
        let stamp = permit.number() as u32;
        let change = self.gate.leave(permit.cost(), stamp, outcome, clock::now);
        let is_new = permit.number() & PAUSE_BITS == self.pause_bits();
        let resumed = is_new.then(|| self.record_after_pause(outcome)).flatten();
        let mut paused = None;
        if let AttemptOutcome::Failure { kind, hint } = outcome {
            let is_refused = kind == Kind::Throttled || hint.is_some();
            if let Some(pause) = self.pause.as_mut().filter(|_| is_refused && !is_new) {
                // The server could not handle all attempts from before the pause.
                pause.ran_before -= 1.0;
            }
            // Any failure with a hint causes a pause, such as HTTP 503 with `Retry-After` from a server that is down
            // for a while.
            paused = self.pause(hint.unwrap_or_default());
        }
        self.running = self.running.saturating_sub(1);
        self.average_running += (f64::from(self.running) - self.average_running) / AVERAGED_OVER;
        [paused.or(resumed), change]
    }

    /// Pauses for `hint`. Returns the change, unless `hint` at most doubles the rest of the current pause.
    fn pause(&mut self, hint: Duration) -> Option<Change> {
        if hint.is_zero() {
            return None;
        }
        let (now, left) = (clock::now(), self.paused_for());
        if left.is_none() {
            self.pause = Some(SlowStart::new(now, self.average_running - 1.0));
            self.pauses = self.pauses.wrapping_add(1);
        }
        let paused = self.pause.as_mut()?;
        paused.extend(now, hint);
        let pause = paused.paused_for(now)?;
        (pause > left.unwrap_or_default().saturating_mul(2)).then_some(Change::Paused { pause })
    }

    /// Records the end of an attempt that started after the last pause.
    fn record_after_pause(&mut self, outcome: AttemptOutcome) -> Option<Change> {
        let waiting = self.waiting();
        let pause = self.pause.as_mut()?;
        pause.running -= 1.0;
        if outcome != AttemptOutcome::Success {
            return None;
        }
        pause.succeeded += 1.0;
        let is_first = pause.succeeded <= 1.0;
        if waiting == 0 || self.gate.has_pace() || pause.is_unlimited(clock::now()) {
            self.pause = None;
        }
        is_first.then_some(Change::Resumed)
    }

    fn pause_bits(&self) -> u64 {
        (u64::from(self.pauses) << 32) & PAUSE_BITS
    }
}

/// Releases the lock, and wakes the first waiting attempt.
#[inline]
fn wake_first<G>(mut state: MutexGuard<'_, State<G>>) {
    let first = state.line.mark_first_due();
    drop(state);
    if let Some(first) = first {
        first.wake();
    }
}
