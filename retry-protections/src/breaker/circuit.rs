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

/// Leaves a server alone that is down, for all calls that name it: the key `breaker`.
///
/// Closed, it lets every attempt through and counts those that fail. Once nearly all have failed for 2 s, or too many
/// within the window, it opens: new calls end at once, with [`Rejected`](retry_runtime::Rejected). Calls that are already
/// retrying end after their pause, with their last error. After a while it is half open and lets a few trial calls
/// through. If they succeed, it closes; if one fails, it opens again.
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
/// Transient failures and timeouts count. An error that is not worth a retry is an answer of a server that is up, and
/// counts as a success. A throttled attempt counts as neither, nor does an error that nobody knows.
///
/// | setter | default |
/// |---|---|
/// | [`ratio`](Self::ratio) | 0.9 |
/// | [`minimum_calls`](Self::minimum_calls) | 100, or the whole count window |
/// | [`consecutive_failures`](Self::consecutive_failures) | off |
/// | [`window`](Self::window), or [`count_window`](Self::count_window) | 30 s |
/// | [`slow`](Self::slow) | off |
/// | [`open_for`](Self::open_for) | 5 s, or what the server asks for |
/// | [`trial_calls`](Self::trial_calls) | 1 |
/// | [`trial_successes`](Self::trial_successes) | all trial calls |
/// | [`hung_after`](Self::hung_after) | off |
/// | [`max_wait`](Self::max_wait) | no limit |
/// | [`listener`](Self::listener) | none |
///
/// Setters panic on numbers that make no sense, such as a ratio of 1.1. In a `static` or a `const` that is an error
/// when the program is compiled, and no call ever sees it. Only a breaker made of numbers that are read at run time has
/// to check them before.
///
/// [`force_open`](Self::force_open), [`force_closed`](Self::force_closed) and [`reset`](Self::reset) are for operators,
/// as are [`set_ratio`](Self::set_ratio) and [`set_open_for`](Self::set_open_for).
///
/// Make one for each service that can fail by itself; [`Keyed`](crate::Keyed) keeps them apart.
#[derive(Debug)]
pub struct Breaker {
    /// As it was made. What changes while it is used is in the circuit.
    pub(super) made: Rule,
    /// The state's number, doubled; odd unless it is closed and attempts have succeeded.
    gate: AtomicU64,
    /// How many successes may yet be counted here alone, without the lock and the clock.
    granted: AtomicU32,
    circuit: Mutex<Circuit>,
}

#[derive(Debug)]
pub(super) struct Circuit {
    /// The rule, if an operator has changed it.
    pub(super) changed: Option<Rule>,
    /// The number of the state: each gets another. A pass of an earlier state changes nothing.
    number: u64,
    pub(super) phase: Phase,
    window: Window,
    last_calls: LastCalls,
    cusum: Cusum,
    /// The failures since the last success.
    consecutive: u32,
    /// The passes given and not yet back, while none came back with a success.
    under_way: u32,
    /// How many successes were granted last.
    granted: u32,
    pub(super) waiters: Waiters,
}

impl Circuit {
    /// A pass of a closed breaker.
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
    /// Trial calls whose end is not known.
    running: u32,
    succeeded: u32,
    failed: u32,
    /// Trial calls that may run or have ended.
    places: u32,
    /// When the last trial call began.
    since: Moment,
}

impl Trials {
    fn are_full(&self) -> bool {
        self.running + self.succeeded + self.failed >= self.places
    }

    /// A trial call sent nothing, as a call within it was rejected: perhaps by this breaker, for want of a place beside
    /// it. Both need one, or no trial would ever reach the server.
    fn make_room(&mut self, made: u32) {
        if self.places < made.saturating_add(LAYERS) {
            self.places += 1;
        }
    }
}

/// The shortest time that a breaker is open because of a hint: the shortest `Retry-After`. A server
/// that is down may also say that it wants no wait.
const SHORTEST_BY_HINT: Duration = Duration::from_secs(1);
/// How many calls that share a breaker may run one within another.
const LAYERS: u32 = 4;
/// The longest time that a breaker is open because of a hint: the default of `max_hint`.
const LONGEST_BY_HINT: Duration = Duration::from_secs(120);

impl Breaker {
    /// A closed breaker with the defaults.
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

    /// The state now. It turns from open to half open when the first trial call begins.
    pub fn state(&self) -> BreakerState {
        match self.circuit().phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { .. } => BreakerState::Open,
            Phase::HalfOpen(_) => BreakerState::HalfOpen,
            Phase::ForcedOpen => BreakerState::ForcedOpen,
            Phase::ForcedClosed => BreakerState::ForcedClosed,
        }
    }

    /// Whether nothing is let through now.
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

    /// How many are before that one of those that wait, and after how long it asks again: `None` where it is woken. No
    /// answer if it can ask for a pass now.
    pub(super) fn wait(&self, circuit: &Circuit, number: u64) -> Option<(usize, Option<Duration>)> {
        let ahead = circuit.waiters.ahead(number);
        match &circuit.phase {
            Phase::Closed | Phase::ForcedClosed => {
                let turn = circuit.waiters.turn_in(number, clock::now());
                (!turn.is_zero()).then_some((ahead, Some(turn)))
            }
            _ if !self.rejects_all(circuit) => None,
            // The trial calls are before it, and may never end: it looks now and then whether one more is let through.
            Phase::HalfOpen(_) => Some((ahead + 1, None)),
            phase => Some((ahead, phase.half_open_in())),
        }
    }

    pub(super) fn circuit(&self) -> MutexGuard<'_, Circuit> {
        lock(&self.circuit)
    }

    /// The rule in force.
    pub(super) fn rule(&self, circuit: &Circuit) -> Rule {
        circuit.changed.unwrap_or(self.made)
    }

    /// Counts calls that ended now, or since the window last moved. Returns all that are in the window.
    fn count(&self, circuit: &mut Circuit, calls: Calls) -> Calls {
        match self.made.count_window {
            0 => circuit.window.add(calls),
            length => circuit.last_calls.add(calls, length),
        }
    }

    /// Counts what was granted and used. As the successes they are that came after the last look at the clock, they
    /// count as of then. Returns what time it is.
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

    /// Lets the next successes be counted without the lock and a look at the clock.
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
        // Nothing that was granted counts in the new state.
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

    /// Counts a success of a closed breaker. Returns why it opens, if it does: the call that a ratio waited for may
    /// succeed, and be slow. In a window of time, successes come too often to open it for what failed before.
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

    /// Counts a failure of a closed breaker. Returns why it opens, if it does.
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
        // Failures may come before the first success only because they are faster: those under way may yet succeed.
        // Where attempts time out, nothing is slower.
        let is_early = kind != Kind::Timeout && circuit.under_way > circuit.consecutive;
        let by_ratio = || rule.opens_at(calls).or_else(sudden);
        (!is_early).then(by_ratio).flatten().or_else(in_a_row)
    }

    /// The time at which an attempt is admitted, if the breaker measures attempts.
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

    /// The outcome as it counts: a throttled attempt doesn't, and one that was dropped only if it hung.
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

    /// The number of the state if that is closed, and an attempt has succeeded in it: then no lock is needed.
    #[inline]
    pub(super) fn closed_state(&self) -> Option<u64> {
        let gate = self.gate.load(Ordering::Acquire);
        (gate & 1 == 0).then_some(gate >> 1)
    }

    /// Admits an attempt under the lock. Returns the number of the state, and true if it has just become half open.
    #[cold]
    pub(super) fn admit_unless_open(&self) -> Option<(u64, bool)> {
        let mut guard = self.circuit();
        let circuit = &mut *guard;
        // Read under the lock, so that no other thread's time is later.
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

    /// Tells the listener. Nobody holds the lock, so it may ask the breaker.
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

/// Wakes those that wait, if what they wait for has changed.
pub(super) fn wake(mut circuit: MutexGuard<'_, Circuit>, is_changed: bool) {
    if is_changed {
        let wakers = circuit.waiters.wakers();
        drop(circuit);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// The low bits of the milliseconds, which is all that a difference of less than 49 days needs.
#[expect(clippy::cast_possible_truncation, reason = "on purpose")]
fn millis(moment: Moment) -> u32 {
    moment.since_origin().as_millis() as u32
}

/// Whether so long has not passed yet. A clock that ran backwards must not keep a breaker open.
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
            // As an operator set it.
            return false;
        }
        let window = made.window;
        match circuit.phase {
            // The last calls stay the last.
            Phase::Closed if made.count_window > 0 => is_unused,
            Phase::Closed => {
                let calls = circuit.window.slide(now, window);
                calls.failed == 0 && calls.slow == 0
            }
            // Nobody has asked for it since.
            Phase::Open { since, length } => !is_within(since, length.saturating_add(window), now),
            Phase::HalfOpen(ref trials) => !is_within(trials.since, window, now),
            Phase::ForcedOpen | Phase::ForcedClosed => false,
        }
    }
}

/// Shows its state: `open`.
impl fmt::Display for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state().fmt(f)
    }
}
