use std::fmt;
use std::task::Waker;
use std::time::Duration;

use retry_runtime::macro_support::Remembers;
use retry_runtime::{AttemptOutcome, BreakerState, Cause, Kind, Moment, Transition};

use crate::breaker::admission::Admitted;
use crate::breaker::cusum::Cusum;
use crate::breaker::last_calls::LastCalls;
use crate::breaker::rule::{LONGEST_RUN, Rule};
use crate::breaker::waiters::Waiters;
use crate::breaker::window::{Calls, Window};
use crate::clock;
use crate::keyed::Rest;
use crate::sync::{AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, lock};

/// A circuit breaker: stops calls to a server that is down. For the key `breaker`, shared by all calls that name it.
///
/// While closed, it admits every attempt and counts the failures. Once nearly all attempts have failed for 2 s, or too
/// many within the window, it opens: new calls end at once, with [`Rejected`](retry_runtime::Rejected). Calls that are
/// already retrying end after their pause, with their last error. After [`open_for`](Self::open_for) it is half open,
/// and admits a few trial calls. If they succeed, it closes; if one fails, it opens again.
///
/// ```
/// use retry_protections::Breaker;
/// use retry_runtime::{BreakerState, retry};
///
/// static MODEL_API: Breaker = Breaker::new();
///
/// #[retry(max = 5, backoff = "none", breaker = &MODEL_API)]
/// fn complete() -> std::io::Result<String> {
///     Err(std::io::ErrorKind::ConnectionRefused.into())
/// }
///
/// for _ in 0..20 {
///     assert!(complete().is_err());
/// }
/// // 100 attempts of 120 were made.
/// assert_eq!(MODEL_API.state(), BreakerState::Open);
/// ```
///
/// Transient failures and timeouts count as failures. An error that is not worth a retry counts as a success, because
/// the server answered. Throttled attempts and unknown errors don't count.
///
/// | setter | default |
/// |---|---|
/// | [`ratio`](Self::ratio) | 0.9 |
/// | [`minimum_calls`](Self::minimum_calls) | 100, or the whole count window |
/// | [`consecutive_failures`](Self::consecutive_failures) | off |
/// | [`window`](Self::window), or [`count_window`](Self::count_window) | 30 s |
/// | [`slow`](Self::slow) | off |
/// | [`open_for`](Self::open_for) | 5 s, or the server's hint |
/// | [`trial_calls`](Self::trial_calls) | 1 |
/// | [`trial_successes`](Self::trial_successes) | all trial calls |
/// | [`hung_after`](Self::hung_after) | off |
/// | [`max_wait`](Self::max_wait) | no limit |
/// | [`listener`](Self::listener) | none |
///
/// Setters panic on numbers that are out of range, such as a ratio of 1.1. In a `static` or a `const` this is a compile
/// error. Only a program that reads the numbers at run time has to check them first.
///
/// [`force_open`](Self::force_open), [`force_closed`](Self::force_closed), [`reset`](Self::reset),
/// [`set_ratio`](Self::set_ratio) and [`set_open_for`](Self::set_open_for) are for operators.
///
/// Create one for each service that can fail on its own, or use [`Keyed`](crate::Keyed).
#[derive(Debug)]
pub struct Breaker {
    /// The settings with which it was created. Changes made while it is in use are in the circuit.
    pub(super) made: Rule,
    /// The number of the state, shifted left by one. The lowest bit is 0 only while the breaker is closed and an
    /// attempt has succeeded in this state.
    gate: AtomicU64,
    /// The number of successes that may still be recorded here, without taking the lock or reading the clock.
    granted: AtomicU32,
    circuit: Mutex<Circuit>,
}

#[derive(Debug)]
pub(super) struct Circuit {
    /// The settings in force, if an operator has changed them.
    pub(super) changed: Option<Rule>,
    /// The number of the state; each change of state increments it. An attempt admitted in an earlier state changes
    /// nothing.
    number: u64,
    pub(super) phase: Phase,
    window: Window,
    last_calls: LastCalls,
    cusum: Cusum,
    /// The number of failures since the last success.
    consecutive: u32,
    /// The number of attempts under way, counted until the first success in this state.
    under_way: u32,
    /// The number of successes that the last grant allowed: the initial value of the breaker's `granted`.
    granted: u32,
    pub(super) waiters: Waiters,
}

impl Circuit {
    /// Admits an attempt while the breaker is closed. Returns the number of the state.
    fn begin(&mut self) -> u64 {
        self.under_way = self.under_way.saturating_add(1);
        self.number
    }
}

#[derive(Debug)]
pub(super) enum Phase {
    Closed,
    Open { since: Moment, length: Duration },
    HalfOpen(Trials),
    ForcedOpen,
    ForcedClosed,
}

impl Phase {
    pub(super) fn half_open_in(&self) -> Option<Duration> {
        match *self {
            Self::Open { since, length } => Some(length.saturating_sub(clock::now().since(since))),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Trials {
    /// The number of trial calls that have not ended.
    running: u32,
    succeeded: u32,
    failed: u32,
    /// The number of trial calls that may be under way or have ended.
    places: u32,
    /// When the last trial call began.
    since: Moment,
}

impl Trials {
    fn are_full(&self) -> bool {
        self.running + self.succeeded + self.failed >= self.places
    }

    /// Allows one more trial call after one that sent nothing because a call inside it was rejected. This breaker may
    /// have rejected the inner call because no other trial call was allowed. Both need to be admitted, or no trial
    /// would ever reach the server.
    fn make_room(&mut self, made: u32) {
        if self.places < made.saturating_add(LAYERS) {
            self.places += 1;
        }
    }
}

/// The shortest time for which a hint keeps a breaker open: the shortest `Retry-After`. A server that is down may also
/// ask for no wait at all.
const SHORTEST_BY_HINT: Duration = Duration::from_secs(1);
/// The largest number of calls nested in each other that share a breaker.
const LAYERS: u32 = 4;
/// The longest time for which a hint keeps a breaker open: the default of `max_hint`.
const LONGEST_BY_HINT: Duration = Duration::from_secs(120);

impl Breaker {
    /// Creates a closed breaker with the default settings.
    pub const fn new() -> Self {
        Self {
            made: Rule::DEFAULT,
            gate: AtomicU64::new(1),
            granted: AtomicU32::new(0),
            circuit: Mutex::new(Circuit {
                changed: None,
                number: 0,
                phase: Phase::Closed,
                window: Window::new(),
                last_calls: LastCalls::new(),
                cusum: Cusum::new(),
                consecutive: 0,
                under_way: 0,
                granted: 0,
                waiters: Waiters::new(),
            }),
        }
    }

    /// The current state. It changes from open to half open when the first trial call begins.
    pub fn state(&self) -> BreakerState {
        match self.circuit().phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { .. } => BreakerState::Open,
            Phase::HalfOpen(_) => BreakerState::HalfOpen,
            Phase::ForcedOpen => BreakerState::ForcedOpen,
            Phase::ForcedClosed => BreakerState::ForcedClosed,
        }
    }

    /// Returns true if no attempt may begin now.
    pub(super) fn rejects_all(&self, circuit: &Circuit) -> bool {
        let now = clock::now();
        match circuit.phase {
            Phase::Closed | Phase::ForcedClosed => false,
            Phase::ForcedOpen => true,
            Phase::Open { since, length } => is_within(since, length, now),
            Phase::HalfOpen(ref trials) => {
                trials.are_full() && is_within(trials.since, self.rule(circuit).open_for, now)
            }
        }
    }

    /// The number of attempts ahead of this waiting call, and the time after which it asks again; without a time, it
    /// asks when it is woken. `None` if it can ask to be admitted now.
    pub(super) fn wait(&self, circuit: &Circuit, number: u64) -> Option<(usize, Option<Duration>)> {
        let ahead = circuit.waiters.ahead(number);
        match &circuit.phase {
            Phase::Closed | Phase::ForcedClosed => {
                let turn = circuit.waiters.turn_in(number, clock::now());
                (!turn.is_zero()).then_some((ahead, Some(turn)))
            }
            _ if !self.rejects_all(circuit) => None,
            // The trial calls count as one ahead. They may never end, so the call also checks from time to time if
            // another trial call is admitted.
            Phase::HalfOpen(_) => Some((ahead + 1, None)),
            phase => Some((ahead, phase.half_open_in())),
        }
    }

    pub(super) fn circuit(&self) -> MutexGuard<'_, Circuit> {
        lock(&self.circuit)
    }

    /// The settings in force.
    pub(super) fn rule(&self, circuit: &Circuit) -> Rule {
        circuit.changed.unwrap_or(self.made)
    }

    /// Counts calls that ended since the window last moved. Returns the counts of the whole window.
    fn count(&self, circuit: &mut Circuit, calls: Calls) -> Calls {
        match self.made.count_window {
            0 => circuit.window.add(calls),
            length => circuit.last_calls.add(calls, length),
        }
    }

    /// Counts the successes that were recorded without the lock, as of the time when the window last moved. Then moves
    /// the window. Returns the current time.
    fn settle(&self, circuit: &mut Circuit) -> Moment {
        let left = self.granted.swap(0, Ordering::Relaxed);
        let used = circuit.granted - left;
        circuit.granted = 0;
        self.count(circuit, Calls::successes(used));
        circuit
            .cusum
            .succeeded(used, self.rule(circuit).outweighed());
        let now = clock::now();
        circuit.window.slide(now, self.made.window);
        now
    }

    /// Allows the next successes to be recorded without taking the lock or reading the clock.
    fn grant(&self, circuit: &mut Circuit, ended: u32) {
        circuit.granted = self.made.granted(ended);
        self.granted.store(circuit.granted, Ordering::Relaxed);
    }

    pub(super) fn turn(&self, circuit: &mut Circuit, phase: Phase) {
        circuit.number += 1;
        circuit.phase = phase;
        self.gate.store(circuit.number << 1 | 1, Ordering::Release);
    }

    fn open(&self, circuit: &mut Circuit, cause: Cause, hint: Option<Duration>) -> Transition {
        let own = self.rule(circuit).open_for;
        let open_for = hint.map_or(own, |hint| {
            hint.clamp(own.min(SHORTEST_BY_HINT), own.max(LONGEST_BY_HINT))
        });
        let phase = Phase::Open {
            since: clock::now(),
            length: open_for,
        };
        self.turn(circuit, phase);
        Transition::Opened { cause, open_for }
    }

    pub(super) fn close(&self, circuit: &mut Circuit) -> Transition {
        // Successes recorded without the lock belong to the old state, and don't count in the new one.
        let now = self.settle(circuit);
        circuit.waiters.resume(now);
        circuit.window = Window::new();
        circuit.last_calls = LastCalls::new();
        circuit.cusum = Cusum::new();
        circuit.consecutive = 0;
        circuit.under_way = 0;
        self.turn(circuit, Phase::Closed);
        Transition::Closed
    }

    /// Counts a success while closed. Returns the cause if the breaker opens: because a slow attempt reaches the ratio,
    /// or because this attempt completes the minimum number of a count window. In a time window, a success never opens
    /// the breaker for earlier failures.
    fn succeeded(&self, circuit: &mut Circuit, slow: u32) -> Option<Cause> {
        circuit.consecutive = 0;
        circuit.under_way = 0;
        self.gate.store(circuit.number << 1, Ordering::Release);
        self.settle(circuit);
        let one = Calls {
            slow,
            ..Calls::successes(1)
        };
        let calls = self.count(circuit, one);
        let rule = self.rule(circuit);
        circuit.cusum.succeeded(1, rule.outweighed());
        self.grant(circuit, calls.ended);
        let cause = rule.opens_at(calls)?;
        (rule.count_window > 0 || cause == Cause::Slow).then_some(cause)
    }

    /// Counts a failure while closed. Returns the cause if the breaker opens.
    fn failed(&self, circuit: &mut Circuit, kind: Kind, slow: u32) -> Option<Cause> {
        circuit.consecutive = circuit.consecutive.saturating_add(1);
        let now = self.settle(circuit);
        let one = Calls {
            ended: 1,
            failed: 1,
            slow,
        };
        let calls = self.count(circuit, one);
        circuit.cusum.failed(now, calls.failed);
        let rule = self.rule(circuit);
        let in_a_row = || {
            let in_a_row = 1..=circuit.consecutive;
            in_a_row
                .contains(&rule.consecutive)
                .then_some(Cause::Consecutive)
        };
        if rule.count_window > 0 {
            return rule.opens_at(calls).or_else(in_a_row);
        }
        let sudden = || {
            let is_sudden = circuit.cusum.tells(rule.sudden(), rule.window / 15, now);
            is_sudden.then_some(Cause::Ratio)
        };
        // Before the first success there may be failures only because they are faster: attempts under way may still
        // succeed. After timeouts this doesn't apply, because no answer is slower than a timeout.
        let is_early = kind != Kind::Timeout && circuit.under_way > circuit.consecutive;
        let by_ratio = || rule.opens_at(calls).or_else(sudden);
        (!is_early).then(by_ratio).flatten().or_else(in_a_row)
    }

    /// The time in milliseconds at which an attempt is admitted. 0 if the breaker doesn't measure attempts.
    #[inline]
    pub(super) fn admission_time(&self) -> u32 {
        if self.made.is_timed() {
            millis(clock::now())
        } else {
            0
        }
    }

    fn ran(admitted: Admitted, least: u32) -> bool {
        let ran = || millis(clock::now()).wrapping_sub(admitted.at);
        least > 0 && (least..=LONGEST_RUN).contains(&ran())
    }

    /// The outcome as the breaker counts it: a throttled attempt is ignored, and a dropped one counts as a timeout if
    /// it ran for at least `hung_after`.
    fn counted(&self, admitted: Admitted, outcome: AttemptOutcome) -> AttemptOutcome {
        match outcome {
            AttemptOutcome::Failure { kind, .. }
                if !matches!(kind, Kind::Transient | Kind::Timeout) =>
            {
                AttemptOutcome::Ignored
            }
            AttemptOutcome::Dropped if Self::ran(admitted, self.made.hung_after) => {
                AttemptOutcome::Failure {
                    kind: Kind::Timeout,
                    hint: None,
                }
            }
            outcome => outcome,
        }
    }

    /// The number of the state, if the breaker is closed and an attempt has succeeded in this state: then no lock is
    /// needed.
    #[inline]
    pub(super) fn closed_state(&self) -> Option<u64> {
        let gate = self.gate.load(Ordering::Acquire);
        (gate & 1 == 0).then_some(gate >> 1)
    }

    /// Admits an attempt under the lock. Returns the number of the state, and true if the breaker has just become half
    /// open. `None` if the attempt is not admitted.
    #[cold]
    pub(super) fn admit_unless_open(&self) -> Option<(u64, bool)> {
        let mut guard = self.circuit();
        let circuit = &mut *guard;
        // Read under the lock, so that no other thread has seen a later time.
        let now = clock::now();
        let open_for = self.rule(circuit).open_for;
        let number = match &mut circuit.phase {
            Phase::Closed | Phase::ForcedClosed => circuit.begin(),
            Phase::ForcedOpen => return None,
            Phase::Open { since, length } => {
                if is_within(*since, *length, now) {
                    return None;
                }
                let trials = Trials {
                    running: 1,
                    succeeded: 0,
                    failed: 0,
                    places: self.made.trial_calls,
                    since: now,
                };
                self.turn(circuit, Phase::HalfOpen(trials));
                let number = circuit.number;
                drop(guard);
                self.tell(Transition::HalfOpened);
                return Some((number, true));
            }
            Phase::HalfOpen(trials) => {
                if trials.are_full() {
                    if is_within(trials.since, open_for, now) {
                        return None;
                    }
                    trials.places = trials.places.saturating_add(1);
                }
                trials.running += 1;
                trials.since = now;
                circuit.number
            }
        };
        Some((number, false))
    }

    #[inline]
    pub(super) fn is_granted(&self) -> bool {
        let one = |left: u32| left.checked_sub(1);
        self.granted
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one)
            .is_ok()
    }

    #[inline(never)]
    pub(super) fn record_under_lock(
        &self,
        admitted: Admitted,
        outcome: AttemptOutcome,
    ) -> Option<Transition> {
        let mut circuit = self.circuit();
        let transition = self.record(&mut circuit, admitted, outcome);
        let is_changed = transition.is_some() || matches!(circuit.phase, Phase::HalfOpen(_));
        wake(circuit, is_changed);
        self.tell(transition?);
        transition
    }

    /// Calls the listener. The lock must not be held, because the listener may query the breaker.
    pub(super) fn tell(&self, transition: Transition) {
        if let Some(listener) = self.made.listener {
            listener(transition);
        }
    }

    fn record(
        &self,
        circuit: &mut Circuit,
        admitted: Admitted,
        outcome: AttemptOutcome,
    ) -> Option<Transition> {
        if !admitted.is_of(circuit.number) {
            return None;
        }
        let outcome = self.counted(admitted, outcome);
        circuit.under_way = circuit.under_way.saturating_sub(1);
        let slow = u32::from(Self::ran(admitted, self.made.slow_after));
        let trials = match (&mut circuit.phase, outcome) {
            (Phase::Open { .. } | Phase::ForcedOpen | Phase::ForcedClosed, _)
            | (
                Phase::Closed,
                AttemptOutcome::Ignored | AttemptOutcome::NotBegun | AttemptOutcome::Dropped,
            ) => return None,
            (Phase::Closed, AttemptOutcome::Success) => {
                let cause = self.succeeded(circuit, slow)?;
                return Some(self.open(circuit, cause, None));
            }
            (Phase::Closed, AttemptOutcome::Failure { kind, hint }) => {
                let cause = self.failed(circuit, kind, slow)?;
                return Some(self.open(circuit, cause, hint));
            }
            (Phase::HalfOpen(trials), _) => trials,
        };
        trials.running = trials.running.saturating_sub(1);
        let hint = match outcome {
            AttemptOutcome::Ignored | AttemptOutcome::Dropped => return None,
            AttemptOutcome::NotBegun => {
                trials.make_room(self.made.trial_calls);
                return None;
            }
            AttemptOutcome::Success if slow == 0 => {
                trials.succeeded += 1;
                return (trials.succeeded >= self.made.trial_successes())
                    .then(|| self.close(circuit));
            }
            AttemptOutcome::Success => None,
            AttemptOutcome::Failure { hint, .. } => hint,
        };
        trials.failed += 1;
        let bearable = self.made.trial_calls - self.made.trial_successes();
        (trials.failed > bearable).then(|| self.open(circuit, Cause::Trial, hint))
    }
}

/// Releases the lock and wakes the waiting calls, if a change allows them to ask again.
pub(super) fn wake(mut circuit: MutexGuard<'_, Circuit>, is_changed: bool) {
    if is_changed {
        let wakers = circuit.waiters.wakers();
        drop(circuit);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// The time in milliseconds, lowest 32 bits. Differences below 49 days are exact.
#[expect(clippy::cast_possible_truncation, reason = "on purpose")]
fn millis(moment: Moment) -> u32 {
    moment.since_origin().as_millis() as u32
}

/// Returns true if less than `length` has passed since `since`. False if the clock ran backwards, so that this never
/// keeps a breaker open.
fn is_within(since: Moment, length: Duration, now: Moment) -> bool {
    let passed = now.checked_since(since);
    passed.is_some_and(|passed| passed < length)
}

impl Default for Breaker {
    fn default() -> Self {
        Self::new()
    }
}

impl Remembers for Breaker {}

impl Rest for Breaker {
    fn is_at_rest(&self, is_unused: bool) -> bool {
        let circuit = &mut *self.circuit();
        let now = clock::now();
        let (rule, made) = (self.rule(circuit), &self.made);
        if (rule.ratio, rule.open_for) != (made.ratio, made.open_for) {
            // An operator has changed a setting.
            return false;
        }
        let window = made.window;
        match circuit.phase {
            // A count window keeps its calls, however old they are.
            Phase::Closed if made.count_window > 0 => is_unused,
            Phase::Closed => {
                let calls = circuit.window.slide(now, window);
                calls.failed == 0 && calls.slow == 0
            }
            // No trial call has begun in the `window` since one could have.
            Phase::Open { since, length } => !is_within(since, length.saturating_add(window), now),
            Phase::HalfOpen(ref trials) => !is_within(trials.since, window, now),
            Phase::ForcedOpen | Phase::ForcedClosed => false,
        }
    }
}

/// Formats the state, such as `open`.
impl fmt::Display for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state().fmt(f)
    }
}
