use std::collections::VecDeque;
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::task::Waker;
use std::time::Duration;

use retry_runtime::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, Change, Changes, Kind, Moment,
    Permit,
};

use crate::clock;
use crate::limiter::gate::Gate;
use crate::limiter::slow_start::SlowStart;
use crate::sync::{Mutex, MutexGuard, lock};

/// The attempts that wait for a gate, in the order in which they came. No attempt overtakes the first, whatever it
/// costs, as long as the first takes its turn. One that is no longer polled would otherwise block all others forever.
///
/// All gates use this queue. It also applies a server's hint to all calls: no attempt begins until it has passed.
pub(crate) struct Queue<G> {
    /// The gate as it was created: setters change it before use, and [`Keyed`](crate::Keyed) compares with it.
    pub(crate) new: G,
    pub(crate) max_wait: Option<Duration>,
    /// The number of attempts that may wait at a time.
    pub(crate) most_waiting: usize,
    state: Mutex<State<G>>,
}

struct State<G> {
    gate: G,
    waiting: VecDeque<Waiting>,
    /// The number of the next attempt that has to wait.
    next: u64,
    /// The number of attempts that run.
    running: u32,
    /// The moving average of `running`, over about [`ROUND`] attempts. Never below `running` when an attempt begins.
    ran: f64,
    /// The last pause. `None` once its slow start is over.
    pause: Option<SlowStart>,
    /// The number of pauses so far.
    pauses: u32,
}

struct Waiting {
    number: u64,
    /// `None` after it was woken, until the attempt asks again.
    waker: Option<Waker>,
    /// The time from which this attempt, if it is first, could ask again. `None` while that is unknown.
    due: Option<Moment>,
}

/// The highest bit of a permit's number is set if the attempt had its turn. It is followed by the number of pauses
/// before that (31 bits) and the gate's stamp (32 bits). Other permits contain their number in the queue.
const HAD_TURN: u64 = 1 << 63;
/// The number of a permit for which the queue had no room.
const NO_ROOM: u64 = HAD_TURN - 1;
const PAUSES: u64 = HAD_TURN - (1 << 32);

/// The number of attempts over which `running` is averaged. All running attempts may end before the next begin.
const ROUND: f64 = 64.0;

impl<G: Copy> Queue<G> {
    pub(crate) const fn new(gate: G) -> Self {
        Self::of(gate, gate)
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
    pub(crate) const fn of(new: G, gate: G) -> Self {
        Self {
            new,
            max_wait: None,
            most_waiting: usize::MAX,
            state: Mutex::new(State::new(gate)),
        }
    }

    /// Changes the gate, then wakes the first waiting attempt.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut G) -> T) -> T {
        let mut state = self.lock();
        let made = work(&mut state.gate);
        let first = state.first();
        drop(state);
        wake(first);
        made
    }

    /// Reads the gate and the number of waiting attempts. Wakes no attempt.
    pub(crate) fn look<T>(&self, read: impl FnOnce(&G, usize) -> T) -> T {
        let state = self.lock();
        read(&state.gate, state.waiting.len())
    }

    /// Changes the gate, given the number of waiting attempts that may begin now. Wakes no attempt.
    pub(crate) fn with_ready<T>(&self, work: impl FnOnce(&mut G, usize) -> T) -> T {
        let mut state = self.lock();
        let waiting = state.waiting.len();
        let ready = match &state.pause {
            None => waiting,
            Some(pause) => waiting.min(whole(pause.room(clock::now()))),
        };
        work(&mut state.gate, ready)
    }

    /// The number of attempts that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.look(|_, waiting| waiting)
    }

    /// The time until a pause ends that the server asked for. `None` if there is no pause.
    pub(crate) fn paused_for(&self) -> Option<Duration> {
        self.lock().paused_for()
    }

    /// Returns true if no attempt waits, no pause has an effect any more, and `gate_is` returns true.
    pub(crate) fn is_at_rest(&self, gate_is: impl FnOnce(&G, Moment) -> bool) -> bool {
        let (state, now) = (self.lock(), clock::now());
        let is_over = state.pause.as_ref().is_none_or(|pause| pause.is_wide(now));
        state.waiting.is_empty() && is_over && gate_is(&state.gate, now)
    }

    fn lock(&self) -> MutexGuard<'_, State<G>> {
        lock(&self.state)
    }
}

impl<G: Gate> AdmissionControl for Queue<G> {
    fn enter(&self, cost: u32) -> Permit {
        let mut state = self.lock();
        if state.waiting.is_empty() {
            if let Ok(number) = state.admit(cost) {
                return Permit::new(number, cost);
            }
        }
        if state.is_full(self.most_waiting) {
            return Permit::new(NO_ROOM, cost);
        }
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(Waiting {
            number,
            waker: None,
            due: None,
        });
        Permit::new(number, cost)
    }

    #[inline]
    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        if permit.number() & HAD_TURN != 0 {
            return Admission::Admitted;
        }
        self.poll_waiting(permit, waker.clone())
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        if permit.number() & HAD_TURN == 0 {
            self.leave_waiting(permit.number());
            return [None, None];
        }
        let mut state = self.lock();
        let changes = state.ended(&permit, outcome);
        let first = state.first();
        drop(state);
        wake(first);
        changes
    }

    #[inline]
    fn state(&self) -> AdmissionState {
        self.look(|gate, waiting| {
            let mut state = gate.state();
            state.waiting = Some(waiting);
            state
        })
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.max_wait
    }
}

impl<G: Gate> Queue<G> {
    /// Removes an attempt that was not admitted.
    #[cold]
    fn leave_waiting(&self, number: u64) {
        let mut state = self.lock();
        let left = state
            .place(number)
            .and_then(|place| state.waiting.remove(place));
        let first = state.first();
        drop(state);
        drop(left);
        wake(first);
    }

    // A waker runs the executor's code, so none is called or dropped under the lock.
    #[cold]
    #[inline(never)]
    fn poll_waiting(&self, permit: &mut Permit, waker: Waker) -> Admission {
        if permit.number() == NO_ROOM {
            return Admission::QueueFull;
        }
        let mut state = self.lock();
        let Some(ahead) = state.place(permit.number()) else {
            return Admission::Rejected;
        };
        let (at_least, due) = if state.is_next(ahead) {
            match state.admit(permit.cost()) {
                Ok(number) => {
                    *permit = Permit::new(number, permit.cost());
                    let served = state.waiting.remove(ahead);
                    let first = state.first();
                    drop(state);
                    drop(served);
                    wake(first);
                    return Admission::Admitted;
                }
                Err(at_least) => {
                    let due = at_least.and_then(|at_least| clock::now().checked_add(at_least));
                    (at_least, due)
                }
            }
        } else {
            (state.paused_for(), None)
        };
        let called = state.call(ahead);
        let waiting = &mut state.waiting[ahead];
        waiting.due = due;
        let before = waiting.waker.replace(waker);
        drop(state);
        drop(before);
        called.into_iter().for_each(Waker::wake);
        Admission::Wait { ahead, at_least }
    }
}

impl<G> State<G> {
    const fn new(gate: G) -> Self {
        Self {
            gate,
            waiting: VecDeque::new(),
            next: 0,
            running: 0,
            ran: 0.0,
            pause: None,
            pauses: 0,
        }
    }

    fn paused_for(&self) -> Option<Duration> {
        self.pause.as_ref()?.paused_for(clock::now())
    }

    fn place(&self, number: u64) -> Option<usize> {
        let place = self
            .waiting
            .binary_search_by_key(&number, |waiting| waiting.number);
        place.ok()
    }

    /// Returns true if all attempts before this place are absent.
    fn is_next(&self, place: usize) -> bool {
        place == 0 || {
            let now = clock::now();
            let mut before = self.waiting.iter().take(place);
            before.all(|waiting| waiting.is_absent(now))
        }
    }

    /// Finds out which attempts before this place are present, if the first is absent and no present one is known to be
    /// due. Marks them as due now, and returns their wakers.
    fn call(&mut self, place: usize) -> Vec<Waker> {
        if place == 0 || self.waiting[0].due.is_none() {
            return Vec::new();
        }
        let now = clock::now();
        let mut before = self.waiting.iter().take(place);
        let present = before.position(|waiting| !waiting.is_absent(now));
        let Some(present) = present.filter(|present| *present > 0) else {
            return Vec::new();
        };
        if self.waiting[present].due.is_some() {
            return Vec::new();
        }
        let called = self.waiting.iter_mut().take(place).skip(present);
        let call = |waiting: &mut Waiting| {
            waiting.due.get_or_insert(now);
            waiting.waker.take()
        };
        called.filter_map(call).collect()
    }

    /// Marks the first attempt that is not absent as due. Returns its waker.
    #[inline]
    fn first(&mut self) -> Option<Waker> {
        if self.waiting.is_empty() {
            None
        } else {
            self.first_present()
        }
    }

    #[cold]
    #[inline(never)]
    fn first_present(&mut self) -> Option<Waker> {
        let now = clock::now();
        let mut present = self.waiting.iter_mut();
        let first = present.find(|waiting| !waiting.is_absent(now))?;
        let waker = first.waker.take();
        if waker.is_some() || first.due.is_none() {
            first.due = Some(now);
        }
        waker
    }

    /// Returns true if at least `most` attempts wait that are not absent.
    fn is_full(&self, most: usize) -> bool {
        self.waiting.len() >= most && {
            let now = clock::now();
            let present = self
                .waiting
                .iter()
                .filter(|waiting| !waiting.is_absent(now));
            present.count() >= most
        }
    }
}

impl Waiting {
    fn is_absent(&self, now: Moment) -> bool {
        let late = self.due.and_then(|due| now.checked_since(due));
        late.is_some_and(|late| late >= Admission::ABSENT)
    }
}

impl<G: Gate> State<G> {
    /// Admits an attempt. Returns the number of its permit, or the time after which to ask again.
    fn admit(&mut self, cost: u32) -> Result<u64, Option<Duration>> {
        let stamp = match &mut self.pause {
            None => self.gate.admit(cost, clock::now)?,
            Some(pause) => {
                let now = clock::now();
                pause.admits(self.gate.has_pace(), now)?;
                let stamp = self.gate.admit(cost, || now)?;
                pause.admitted();
                stamp
            }
        };
        self.running = self.running.saturating_add(1);
        self.ran = self.ran.max(self.running.into());
        Ok(HAD_TURN | self.pauses_in_numbers() | u64::from(stamp))
    }

    /// Records an outcome. The gate comes first, because it may have charged the attempt that causes a pause.
    fn ended(&mut self, permit: &Permit, outcome: AttemptOutcome) -> Changes {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the stamp is what is cut off"
        )]
        let stamp = permit.number() as u32;
        let change = self.gate.ended(permit.cost(), stamp, outcome, clock::now);
        let is_new = permit.number() & PAUSES == self.pauses_in_numbers();
        let of_pause = match outcome {
            _ if is_new => self.resumed(outcome),
            AttemptOutcome::Failure { kind, hint } if kind == Kind::Throttled || hint.is_some() => {
                self.pause.as_mut().map(SlowStart::refused);
                None
            }
            _ => None,
        };
        // Any kind of failure with a hint pauses, such as HTTP 503 with `Retry-After` from a server that is down for a
        // while.
        let paused = match outcome {
            AttemptOutcome::Failure {
                hint: Some(hint), ..
            } => self.pause(hint),
            _ => None,
        };
        self.running = self.running.saturating_sub(1);
        self.ran += (f64::from(self.running) - self.ran) / ROUND;
        [paused.or(of_pause), change]
    }

    /// Pauses for `hint`. Returns the change, unless a pause is under way that becomes at most twice as long.
    fn pause(&mut self, hint: Duration) -> Option<Change> {
        let now = clock::now();
        let paused = self.pause.as_mut();
        let paused = paused.and_then(|pause| pause.paused_for(now).map(|left| (pause, left)));
        if let Some((paused, left)) = paused {
            paused.extend(now, hint);
            let pause = paused.paused_for(now)?;
            return (pause > left.saturating_mul(2)).then_some(Change::Paused { pause });
        }
        let begun = SlowStart::new(now, hint, self.ran - 1.0)?;
        let pause = begun.paused_for(now)?;
        self.pause = Some(begun);
        self.pauses = self.pauses.wrapping_add(1);
        Some(Change::Paused { pause })
    }

    /// Records the end of an attempt that began after the last pause.
    fn resumed(&mut self, outcome: AttemptOutcome) -> Option<Change> {
        let pause = self.pause.as_mut()?;
        pause.ended();
        if outcome != AttemptOutcome::Success {
            return None;
        }
        let is_first = pause.succeeded();
        if self.waiting.is_empty() || self.gate.has_pace() || pause.is_wide(clock::now()) {
            self.pause = None;
        }
        is_first.then_some(Change::Resumed)
    }

    fn pauses_in_numbers(&self) -> u64 {
        (u64::from(self.pauses) << 32) & PAUSES
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates"
)]
fn whole(room: f64) -> usize {
    room as usize
}

#[inline]
fn wake(first: Option<Waker>) {
    if let Some(first) = first {
        first.wake();
    }
}

impl<G: fmt::Debug> fmt::Debug for Queue<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Queue")
            .field("max_wait", &self.max_wait)
            .field("gate", &state.gate)
            .field("waiting", &state.waiting.len())
            .finish_non_exhaustive()
    }
}
