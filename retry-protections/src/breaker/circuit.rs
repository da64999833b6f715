use std::fmt;
use std::task::Waker;
use std::time::Duration;

use retry_runtime::Cause;
use retry_runtime::macro_support::Remembers;
use retry_runtime::seam::{AttemptOutcome, BreakerState, Moment, Transition};

use crate::breaker::counts::Counts;
use crate::breaker::settings::Settings;
use crate::clock;
use crate::keyed::Evictable;
use crate::line::Line;
use crate::sync::{Mutex, MutexGuard, lock};

/// A circuit breaker: stops calls to a server that is down. For the key `breaker`, shared by all calls that name it.
///
/// While closed, it admits every attempt and counts the failures. Once nearly all attempts have failed for 2 s, or too
/// many within the window, it opens: new calls end at once, with [`Rejected`](retry_runtime::Rejected). Calls that are
/// already retrying end after their pause, with their last error. After [`open_for`](Self::open_for) it is half open,
/// and admits a few trial calls. If they succeed, it closes; if one fails, it opens again.
///
/// ```
/// use retry_protections::Breaker;
/// use retry_runtime::seam::BreakerState;
/// use retry_runtime::retry;
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
/// the server answered. Throttled attempts don't count, unless [`count_throttled`](Self::count_throttled) is set, and
/// neither do unknown errors.
///
/// | setter | default |
/// |---|---|
/// | [`ratio`](Self::ratio) | 0.9 |
/// | [`minimum_calls`](Self::minimum_calls) | 100, or the whole count window |
/// | [`consecutive_failures`](Self::consecutive_failures) | off |
/// | [`window`](Self::window), or [`count_window`](Self::count_window) | 30 s |
/// | [`slow`](Self::slow) | off |
/// | [`count_throttled`](Self::count_throttled) | off |
/// | [`open_for`](Self::open_for) | 5 s, or the server's hint |
/// | [`max_open_for`](Self::max_open_for) | off: `open_for` stays the same |
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
/// Create one for each service that can fail independently, or use [`Keyed`](crate::Keyed).
#[derive(Debug)]
pub struct Breaker {
    /// The initial settings. Later changes are in [`Circuit::changed`].
    pub(super) initial: Settings,
    circuit: Mutex<Circuit>,
}

/// The state of a breaker.
#[derive(Debug)]
pub(super) struct Circuit {
    /// The settings in force. `None` unless an operator changed them.
    pub(super) changed: Option<Settings>,
    /// Incremented by each change of state. The outcome of an attempt that was admitted in an earlier state is ignored.
    pub(super) number: u64,
    pub(super) phase: Phase,
    counts: Counts,
    /// Calls that wait while the breaker is open. After it closes, they start gradually: otherwise they would all start
    /// at once, and bring the server down again.
    pub(super) waiting: Line,
    /// The time at which the breaker was last closed or forced closed. `None` in other states, and before the first
    /// change of state.
    closed_at: Option<Moment>,
    /// The number of waiting calls that have started since the breaker was last closed.
    begun: u32,
    /// The number of times that trial calls have opened the breaker since it was last closed.
    failed_trials: u32,
}

#[derive(Debug)]
pub(super) enum Phase {
    Closed,
    Open { since: Moment, length: Duration },
    HalfOpen(Trials),
    ForcedOpen,
    ForcedClosed,
}

#[derive(Debug)]
pub(super) struct Trials {
    /// The number of trial calls that have not ended.
    running: u32,
    succeeded: u32,
    failed: u32,
    /// The most trial calls that may be running or have an outcome.
    limit: u32,
    /// The start of the last trial call.
    since: Moment,
}

impl Trials {
    fn are_full(&self) -> bool {
        self.running + self.succeeded + self.failed >= self.limit
    }
}

/// The number of waiting calls that may start as soon as the breaker closes.
const FIRST_CALLS: f64 = 2.0;
/// The time in which the number of calls that may have started doubles.
const DOUBLING_TIME: Duration = Duration::from_secs(1);
/// The shortest time for which a hint keeps a breaker open, unless `open_for` is shorter. A server that is down may
/// also send `Retry-After: 0`.
const SHORTEST_BY_HINT: Duration = Duration::from_secs(1);
/// The number of additional trial calls for nested calls that share a breaker.
const NESTED_TRIALS: u32 = 4;
/// The longest time for which a hint keeps a breaker open, unless `open_for` is longer: the default of `max_hint`.
const LONGEST_BY_HINT: Duration = Duration::from_secs(120);

impl Breaker {
    /// Creates a closed breaker with the default settings.
    pub const fn new() -> Self {
        Self {
            initial: Settings::DEFAULT,
            circuit: Mutex::new(Circuit {
                changed: None,
                number: 0,
                phase: Phase::Closed,
                counts: Counts::new(),
                waiting: Line::new(),
                closed_at: None,
                begun: 0,
                failed_trials: 0,
            }),
        }
    }

    /// The current state. The state changes from open to half open when the first trial call starts, so an open breaker
    /// stays `Open` until it is used. To choose between servers, use [`is_open`](Self::is_open).
    pub fn state(&self) -> BreakerState {
        match self.lock_circuit().phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { .. } => BreakerState::Open,
            Phase::HalfOpen(_) => BreakerState::HalfOpen,
            Phase::ForcedOpen => BreakerState::ForcedOpen,
            Phase::ForcedClosed => BreakerState::ForcedClosed,
        }
    }

    /// Returns true if no attempt may start now: while the breaker is open or forced open, and while it is half open
    /// and its trial calls are in flight. False once [`open_for`](Self::open_for) is over.
    ///
    /// ```
    /// use retry_protections::Breaker;
    ///
    /// static SERVERS: [(&str, Breaker); 2] = [("eu", Breaker::new()), ("us", Breaker::new())];
    ///
    /// SERVERS[0].1.force_open();
    /// let healthy = SERVERS.iter().find(|(_, breaker)| !breaker.is_open());
    /// assert_eq!(healthy.unwrap().0, "us");
    /// ```
    pub fn is_open(&self) -> bool {
        let circuit = self.lock_circuit();
        circuit.rejects_all(&self.settings(&circuit))
    }

    pub(super) fn lock_circuit(&self) -> MutexGuard<'_, Circuit> {
        lock(&self.circuit)
    }

    /// The settings in force.
    pub(super) fn settings(&self, circuit: &Circuit) -> Settings {
        circuit.changed.unwrap_or(self.initial)
    }

    /// Calls the listener. The lock must not be held, because the listener may query the breaker.
    pub(super) fn report(&self, transition: Transition) {
        if let Some(listener) = self.initial.listener {
            listener(transition);
        }
    }
}

impl Circuit {
    /// Changes the state and resets the counts.
    pub(super) fn set_phase(&mut self, phase: Phase) {
        let admits_all = matches!(phase, Phase::Closed | Phase::ForcedClosed);
        self.number += 1;
        self.phase = phase;
        self.counts = Counts::new();
        if admits_all {
            self.failed_trials = 0;
        }
        (self.closed_at, self.begun) = (admits_all.then(clock::now), 0);
    }

    fn open(&mut self, settings: &Settings, cause: Cause, hint: Option<Duration>) -> Transition {
        let own = settings.open_for;
        let doubled = own.saturating_mul(2_u32.saturating_pow(self.failed_trials));
        let grown = doubled.min(settings.max_open_for.max(own));
        let open_for = hint.map_or(grown, |hint| {
            hint.clamp(own.min(SHORTEST_BY_HINT), own.max(LONGEST_BY_HINT))
        });
        self.set_phase(Phase::Open {
            since: clock::now(),
            length: open_for,
        });
        Transition::Opened { cause, open_for }
    }

    pub(super) fn half_open_in(&self) -> Option<Duration> {
        match self.phase {
            Phase::Open { since, length } => Some(length.saturating_sub(clock::now().since(since))),
            _ => None,
        }
    }

    /// Returns true if no attempt may start now.
    pub(super) fn rejects_all(&self, settings: &Settings) -> bool {
        match &self.phase {
            Phase::Closed | Phase::ForcedClosed => false,
            Phase::ForcedOpen => true,
            Phase::Open { since, length } => is_within(*since, *length),
            // A trial call may never end, so it blocks others for at most `open_for`.
            Phase::HalfOpen(trials) => {
                trials.are_full() && is_within(trials.since, settings.open_for)
            }
        }
    }

    /// Admits an attempt. Returns true if the breaker has just become half open, and `None` if the attempt is not
    /// admitted.
    pub(super) fn admit(&mut self, settings: &Settings) -> Option<bool> {
        if self.rejects_all(settings) {
            return None;
        }
        match &mut self.phase {
            Phase::Open { .. } => {
                self.set_phase(Phase::HalfOpen(Trials {
                    running: 1,
                    succeeded: 0,
                    failed: 0,
                    limit: settings.trial_calls,
                    since: clock::now(),
                }));
                return Some(true);
            }
            Phase::HalfOpen(trials) => {
                trials.limit = trials.limit.saturating_add(trials.are_full().into());
                trials.running += 1;
                trials.since = clock::now();
            }
            _ => self.counts.begin(),
        }
        Some(false)
    }

    /// Admits a waiting call with this number of calls ahead, as [`admit`](Self::admit) does. Otherwise returns the
    /// number of attempts ahead and the time until the next poll; `None` means only when woken.
    pub(super) fn admit_waiting(
        &mut self,
        settings: &Settings,
        ahead: usize,
    ) -> Result<bool, (usize, Option<Duration>)> {
        let turn = self.turn_delay(ahead);
        if !turn.is_zero() {
            return Err((ahead, Some(turn)));
        }
        // All trial calls together count as one attempt ahead.
        let trials = usize::from(matches!(self.phase, Phase::HalfOpen(_)));
        let wait = (ahead + trials, self.half_open_in());
        let half_opens = self.admit(settings).ok_or(wait)?;
        self.begun = self.begun.saturating_add(1);
        Ok(half_opens)
    }

    /// The time until a call with this number of calls ahead may start. Zero if it may start now, or the breaker is not
    /// closed. Calls ahead need not have started.
    fn turn_delay(&self, ahead: usize) -> Duration {
        let Some(closed) = self.closed_at else {
            return Duration::ZERO;
        };
        let ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
        let rank = f64::from(self.begun) + f64::from(ahead) + 1.0;
        let turn = DOUBLING_TIME.mul_f64((rank / FIRST_CALLS).log2().max(0.0));
        turn.saturating_sub(clock::now().since(closed))
    }

    /// Records the outcome of an attempt that was admitted in this state. Returns the change of state.
    pub(super) fn record(
        &mut self,
        settings: &Settings,
        outcome: AttemptOutcome,
        is_slow: bool,
    ) -> Option<Transition> {
        let hint = match outcome {
            AttemptOutcome::Failure { hint, .. } => hint,
            _ => None,
        };
        let trials = match &mut self.phase {
            Phase::Closed => {
                let cause = self.counts.record(settings, outcome, is_slow)?;
                return Some(self.open(settings, cause, hint));
            }
            Phase::HalfOpen(trials) => trials,
            _ => return None,
        };
        trials.running = trials.running.saturating_sub(1);
        match outcome {
            // This breaker may have rejected a call inside the trial call because no other trial call was allowed. Both
            // need to be admitted, or no trial would ever reach the server.
            AttemptOutcome::NotBegun => {
                let most = settings.trial_calls.saturating_add(NESTED_TRIALS);
                trials.limit += u32::from(trials.limit < most);
            }
            AttemptOutcome::Ignored | AttemptOutcome::Dropped => {}
            AttemptOutcome::Success if !is_slow => trials.succeeded += 1,
            AttemptOutcome::Success | AttemptOutcome::Failure { .. } => trials.failed += 1,
        }
        let needed = settings.trial_successes();
        if trials.succeeded >= needed {
            self.set_phase(Phase::Closed);
            return Some(Transition::Closed);
        }
        if trials.failed <= settings.trial_calls - needed {
            return None;
        }
        self.failed_trials = self.failed_trials.saturating_add(1);
        Some(self.open(settings, Cause::Trial, hint))
    }
}

/// Releases the lock and wakes the waiting calls, because a change may allow them to start.
pub(super) fn wake_all(mut circuit: MutexGuard<'_, Circuit>) {
    let wakers = circuit.waiting.take_wakers();
    drop(circuit);
    wakers.into_iter().for_each(Waker::wake);
}

/// Returns true if less than `length` has passed since `since`. False if the clock ran backwards, which must not keep a
/// breaker open.
fn is_within(since: Moment, length: Duration) -> bool {
    let passed = clock::now().checked_since(since);
    passed.is_some_and(|passed| passed < length)
}

impl Default for Breaker {
    fn default() -> Self {
        Self::new()
    }
}

impl Remembers for Breaker {}

impl Evictable for Breaker {
    fn can_evict(&self, is_unused: bool) -> bool {
        let circuit = &mut *self.lock_circuit();
        let (settings, own) = (self.settings(circuit), &self.initial);
        if (settings.ratio, settings.open_for) != (own.ratio, own.open_for) {
            // An operator has changed a setting.
            return false;
        }
        match circuit.phase {
            Phase::Closed => circuit.counts.can_evict(own, is_unused),
            // No trial call has started in the `window` since one could have.
            Phase::Open { since, length } => !is_within(since, length.saturating_add(own.window)),
            Phase::HalfOpen(ref trials) => !is_within(trials.since, own.window),
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
