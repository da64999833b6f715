use core::fmt;
use core::mem;
use core::time::Duration;

use crate::breaker::circuit_breaker::{CircuitBreaker, Pass, Seen, Transition};
use crate::breaker::cusum::Cusum;
use crate::breaker::window::Window;
use crate::budget::keyed::Rest;
use crate::classify::kind::Kind;
use crate::observe::cause::Cause;
use crate::sync::{AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, lock};
use crate::time::clock;
use crate::time::moment::Moment;

/// Leaves a server alone that is down, for all calls that name it: the key `breaker`.
///
/// Closed, it lets every attempt through and counts those that fail. Once nearly all have failed for 2 s, or too many
/// within the window, it opens: new calls end at once, with [`Rejected`](crate::Rejected). Calls that are already retrying end after their pause, with their last
/// error. After a while it is half open and lets a few trial calls through. If they succeed, it closes; if one fails,
/// it opens again.
///
/// ```
/// use retry_runtime::{Breaker, BreakerState, retry};
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
/// | [`minimum_calls`](Self::minimum_calls) | 100 |
/// | [`consecutive_failures`](Self::consecutive_failures) | off |
/// | [`window`](Self::window) | 30 s |
/// | [`open_for`](Self::open_for) | 5 s, or what the server asks for |
/// | [`trial_calls`](Self::trial_calls) | 1 |
/// | [`hung_after`](Self::hung_after) | off |
///
/// Make one for each service that can fail by itself; [`Keyed`](crate::Keyed) keeps them apart.
#[derive(Debug)]
pub struct Breaker {
    rule: Rule,
    /// The state's number, doubled; odd unless it is closed and attempts have succeeded.
    gate: AtomicU64,
    /// How many successes may yet be counted here alone, without the lock and the clock.
    granted: AtomicU32,
    circuit: Mutex<Circuit>,
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    /// In millionths, so that decimal fractions compare exactly.
    ratio: u64,
    minimum_calls: u32,
    /// Zero for no limit.
    consecutive: u32,
    window: Duration,
    open_for: Duration,
    trial_calls: u32,
    /// In milliseconds; zero for never.
    hung_after: u32,
}

impl Rule {
    /// How far failures of the last moments exceed successes in a sudden outage.
    fn sudden(&self) -> u32 {
        (self.minimum_calls / 4).max(FEWEST_SUDDEN)
    }

    /// How many such failures a success outweighs: so many that their ratio is at least what the breaker opens at.
    #[expect(clippy::cast_possible_truncation, reason = "at most a million")]
    fn outweighed(&self) -> u32 {
        let by_ratio = self.ratio / (MILLION - self.ratio).max(1);
        self.sudden().max(by_ratio as u32)
    }
}

#[derive(Debug)]
struct Circuit {
    /// Another one for each state. A pass of an earlier state changes nothing.
    number: u64,
    phase: Phase,
    window: Window,
    cusum: Cusum,
    /// The failures since the last success.
    consecutive: u32,
    /// The passes given and not yet back, while none came back with a success.
    under_way: u32,
    /// How many successes were granted last.
    granted: u32,
}

impl Circuit {
    /// A pass of a closed breaker.
    fn begin(&mut self) -> Pass {
        self.under_way = self.under_way.saturating_add(1);
        Pass::new(self.number)
    }
}

#[derive(Debug)]
enum Phase {
    Closed,
    Open {
        since: Moment,
        length: Duration,
    },
    HalfOpen {
        /// The trials whose end is not known.
        running: u32,
        succeeded: u32,
        /// Those that may run or have succeeded.
        places: u32,
        /// When the last trial began.
        since: Moment,
    },
}

/// The state of a [`Breaker`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BreakerState {
    /// Everything is let through.
    Closed,
    /// Nothing is let through.
    Open,
    /// Trial calls are let through.
    HalfOpen,
}

/// So many random failures in a row are rare where half of the attempts fail: see `docs/outages.md`.
const FEWEST_SUDDEN: u32 = 25;
const MOST_GRANTED: u32 = 64;
/// In milliseconds: 24 days. More is a clock that is behind another's.
const LONGEST_RUN: u32 = u32::MAX / 2;
const MILLION: u64 = 1_000_000;
/// What a hint makes of the time that a breaker is open, at least: the shortest `Retry-After`. A server that is down may
/// also say that it wants no wait.
const SHORTEST_HINT: Duration = Duration::from_secs(1);
/// And at most: the default of `max_hint`.
const LONGEST_HINT: Duration = Duration::from_secs(120);

impl Breaker {
    /// A closed breaker with the defaults.
    pub const fn new() -> Self {
        Self::of(Rule {
            ratio: MILLION / 10 * 9,
            minimum_calls: 100,
            consecutive: 0,
            window: Duration::from_secs(30),
            open_for: Duration::from_secs(5),
            trial_calls: 1,
            hung_after: 0,
        })
    }

    /// Opens once this part of the attempts within the window has failed: from above 0 to 1. Default 0.9. What lies
    /// outside counts as the nearest within.
    ///
    /// Beware of low ratios: retries get calls through to a server that fails every second attempt, a breaker at 0.5
    /// fails nearly all of them.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and a million"
    )]
    pub const fn ratio(self, ratio: f64) -> Self {
        let millionths = if ratio > 1.0 {
            MILLION
        } else if ratio > 0.000_001 {
            (ratio * 1e6 + 0.5) as u64
        } else {
            1
        };
        Self::of(Rule {
            ratio: millionths,
            ..self.into_rule()
        })
    }

    /// The ratio counts only from that many attempts within the window. At least 1, default 100.
    ///
    /// A sudden outage opens the breaker sooner: once a quarter of that many attempts have failed, but at least 25, over a
    /// fifteenth of the window. A success outweighs as many failures, or more if the [`ratio`](Self::ratio) asks for it.
    ///
    /// Until an attempt has succeeded, the breaker stays closed while more attempts are under way than have failed, because
    /// failures may be faster than successes. Attempts that time out open it all the same.
    pub const fn minimum_calls(self, calls: u32) -> Self {
        Self::of(Rule {
            minimum_calls: if calls == 0 { 1 } else { calls },
            ..self.into_rule()
        })
    }

    /// Opens also once that many attempts in a row have failed, whatever the window holds. 0, the default, is no limit.
    pub const fn consecutive_failures(self, failures: u32) -> Self {
        Self::of(Rule {
            consecutive: failures,
            ..self.into_rule()
        })
    }

    /// For how long an attempt counts in the ratio, to a tenth. Default 30 s, so a sudden outage opens the breaker after 2 s. A few successes may drop out of it too
    /// early: at most an eighth of `minimum_calls` at a time.
    pub const fn window(self, window: Duration) -> Self {
        Self::of(Rule {
            window,
            ..self.into_rule()
        })
    }

    /// How long it stays open before it lets a trial call through. At least 1 ms, default 5 s. If the failure that opens
    /// it has a hint of the server's, that counts instead: at least a second or this time, whichever is shorter, and up to
    /// 2 minutes or this time, whichever is longer.
    pub const fn open_for(self, open_for: Duration) -> Self {
        let least = Duration::from_millis(1);
        Self::of(Rule {
            open_for: if open_for.as_nanos() < least.as_nanos() {
                least
            } else {
                open_for
            },
            ..self.into_rule()
        })
    }

    /// How many trial calls it lets through when half open, and how many must succeed to close it. At least 1, the
    /// default.
    ///
    /// A trial call that is dropped gives its place to another. So that a trial call that never ends can't keep it half
    /// open, one more is let through whenever none has begun for as long as `open_for`.
    pub const fn trial_calls(self, calls: u32) -> Self {
        Self::of(Rule {
            trial_calls: if calls == 0 { 1 } else { calls },
            ..self.into_rule()
        })
    }

    /// An attempt that is dropped once it has run for so long counts as one that timed out, to a millisecond and at most 24
    /// days. Zero, the default, is never: what is dropped says nothing about the server.
    ///
    /// For callers that wait with a time limit of their own, so that the call never learns that its server hangs. Choose
    /// more than answers take. Where the function itself can have a limit, its key `timeout` is better: it also retries, and
    /// the log says when the breaker opens. Nothing is left to say that of a call that was dropped.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::{Breaker, retry};
    /// use tokio::time::timeout;
    ///
    /// static STORE: Breaker = Breaker::new().hung_after(Duration::from_secs(2));
    ///
    /// #[retry(breaker = &STORE)]
    /// async fn load(key: &str) -> std::io::Result<String> {
    ///     Ok(format!("the value of {key}"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let loaded = timeout(Duration::from_secs(3), load("a")).await;
    /// assert!(loaded.is_ok());
    /// # }
    /// ```
    #[expect(clippy::cast_possible_truncation, reason = "at most what fits")]
    pub const fn hung_after(self, after: Duration) -> Self {
        let millis = after.as_nanos().div_ceil(1_000_000);
        let most = LONGEST_RUN as u128;
        Self::of(Rule {
            hung_after: if millis < most { millis } else { most } as u32,
            ..self.into_rule()
        })
    }

    /// Its state now. It turns from open to half open when the first trial call begins.
    pub fn state(&self) -> BreakerState {
        match self.circuit().phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { .. } => BreakerState::Open,
            Phase::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    #[allow(
        clippy::forget_non_drop,
        reason = "on some systems a mutex is dropped, which a `const fn` can't do"
    )]
    const fn into_rule(self) -> Rule {
        let rule = self.rule;
        mem::forget(self);
        rule
    }

    const fn of(rule: Rule) -> Self {
        Self {
            rule,
            gate: AtomicU64::new(1),
            granted: AtomicU32::new(0),
            circuit: Mutex::new(Circuit {
                number: 0,
                phase: Phase::Closed,
                window: Window::new(),
                cusum: Cusum::new(),
                consecutive: 0,
                under_way: 0,
                granted: 0,
            }),
        }
    }

    fn circuit(&self) -> MutexGuard<'_, Circuit> {
        lock(&self.circuit)
    }

    /// Counts what was granted and used. As the successes they are that came after the last look at the clock, they count
    /// as of then. Returns what time it is.
    fn settle(&self, circuit: &mut Circuit) -> Moment {
        let left = self.granted.swap(0, Ordering::Relaxed);
        let used = circuit.granted - left;
        circuit.granted = 0;
        circuit.window.add(used, 0);
        circuit.cusum.succeeded(used, self.rule.outweighed());
        let now = clock::now();
        circuit.window.slide(now, self.rule.window);
        now
    }

    /// Lets the next successes be counted without a look at the clock: few beside those in the window, so that neither
    /// the ratio nor their time is off by much. Few also beside those that decide, as the window may lose all others before
    /// the next look.
    fn grant(&self, circuit: &mut Circuit, ended: u32) {
        let most = (self.rule.minimum_calls / 8).min(MOST_GRANTED);
        circuit.granted = (ended / 8).min(most);
        self.granted.store(circuit.granted, Ordering::Relaxed);
    }

    fn turn(&self, circuit: &mut Circuit, phase: Phase) {
        circuit.number += 1;
        circuit.phase = phase;
        self.gate.store(circuit.number << 1 | 1, Ordering::Release);
    }

    fn open(&self, circuit: &mut Circuit, cause: Cause, hint: Option<Duration>) -> Transition {
        let own = self.rule.open_for;
        let open_for = hint.map_or(own, |hint| {
            hint.clamp(own.min(SHORTEST_HINT), own.max(LONGEST_HINT))
        });
        let phase = Phase::Open {
            since: clock::now(),
            length: open_for,
        };
        self.turn(circuit, phase);
        Transition::Opened { cause, open_for }
    }

    fn close(&self, circuit: &mut Circuit) -> Transition {
        circuit.window = Window::new();
        circuit.cusum = Cusum::new();
        circuit.consecutive = 0;
        circuit.under_way = 0;
        self.turn(circuit, Phase::Closed);
        Transition::Closed
    }

    /// Counts a failure of a closed breaker. Returns why it opens, if it does.
    fn failed(&self, circuit: &mut Circuit, kind: Kind) -> Option<Cause> {
        let rule = &self.rule;
        circuit.consecutive = circuit.consecutive.saturating_add(1);
        let now = self.settle(circuit);
        let calls = circuit.window.add(1, 1);
        circuit.cusum.failed(now, calls.failed);
        let most = u64::from(calls.ended) * rule.ratio;
        let is_over =
            calls.ended >= rule.minimum_calls && u64::from(calls.failed) * MILLION >= most;
        let is_sudden = || circuit.cusum.tells(rule.sudden(), rule.window / 15, now);
        // Failures may come before the first success only because they are faster: those under way may yet succeed. Where
        // attempts time out, nothing is slower.
        let is_early = kind != Kind::Timeout && circuit.under_way > circuit.consecutive;
        if !is_early && (is_over || is_sudden()) {
            Some(Cause::Ratio)
        } else {
            let in_a_row = 1..=circuit.consecutive;
            in_a_row
                .contains(&rule.consecutive)
                .then_some(Cause::Consecutive)
        }
    }

    #[inline]
    fn pass(&self, pass: Pass) -> Pass {
        match self.rule.hung_after {
            0 => pass,
            _ => pass.given_at(millis(clock::now())),
        }
    }

    /// What an attempt says about the server, if nobody waited for its end.
    fn of_dropped(&self, pass: &Pass) -> Seen {
        let least = self.rule.hung_after;
        let ran = || millis(clock::now()).wrapping_sub(pass.given());
        if least > 0 && (least..=LONGEST_RUN).contains(&ran()) {
            Seen::Failure {
                kind: Kind::Timeout,
                hint: None,
            }
        } else {
            Seen::Ignored
        }
    }

    #[cold]
    fn admit_unless_open(&self) -> Option<Pass> {
        let circuit = &mut *self.circuit();
        // Read under the lock, so that no other thread's time is later.
        let now = clock::now();
        let least = self.rule.open_for;
        Some(match &mut circuit.phase {
            Phase::Closed => circuit.begin(),
            Phase::Open { since, length } => {
                if is_within(*since, *length, now) {
                    return None;
                }
                let phase = Phase::HalfOpen {
                    running: 1,
                    succeeded: 0,
                    places: self.rule.trial_calls,
                    since: now,
                };
                self.turn(circuit, phase);
                Pass::half_opening(circuit.number)
            }
            Phase::HalfOpen {
                running,
                succeeded,
                places,
                since,
            } => {
                if running.saturating_add(*succeeded) >= *places {
                    if is_within(*since, least, now) {
                        return None;
                    }
                    *places = places.saturating_add(1);
                }
                *running += 1;
                *since = now;
                Pass::new(circuit.number)
            }
        })
    }

    #[inline]
    fn is_granted(&self) -> bool {
        let one = |left: u32| left.checked_sub(1);
        self.granted
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one)
            .is_ok()
    }

    #[inline(never)]
    fn record_under_lock(&self, pass: &Pass, seen: Seen) -> Option<Transition> {
        let circuit = &mut *self.circuit();
        if pass.stamp() != circuit.number {
            return None;
        }
        let seen = match seen {
            Seen::Dropped => self.of_dropped(pass),
            seen => seen,
        };
        circuit.under_way = circuit.under_way.saturating_sub(1);
        match (&mut circuit.phase, seen) {
            (Phase::Open { .. }, _) | (Phase::Closed, Seen::Ignored | Seen::Dropped) => None,
            (Phase::Closed, Seen::Success) => {
                circuit.consecutive = 0;
                circuit.under_way = 0;
                self.gate.store(circuit.number << 1, Ordering::Release);
                self.settle(circuit);
                let calls = circuit.window.add(1, 0);
                circuit.cusum.succeeded(1, self.rule.outweighed());
                self.grant(circuit, calls.ended);
                None
            }
            (Phase::Closed, Seen::Failure { kind, hint }) => {
                let cause = self.failed(circuit, kind)?;
                Some(self.open(circuit, cause, hint))
            }
            (Phase::HalfOpen { running, .. }, Seen::Ignored | Seen::Dropped) => {
                *running = running.saturating_sub(1);
                None
            }
            (
                Phase::HalfOpen {
                    running, succeeded, ..
                },
                Seen::Success,
            ) => {
                *running = running.saturating_sub(1);
                *succeeded += 1;
                (*succeeded >= self.rule.trial_calls).then(|| self.close(circuit))
            }
            (Phase::HalfOpen { .. }, Seen::Failure { hint, .. }) => {
                Some(self.open(circuit, Cause::Trial, hint))
            }
        }
    }
}

/// Without what a difference of less than 49 days doesn't need.
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

impl CircuitBreaker for Breaker {
    #[inline]
    fn admit(&self) -> Option<Pass> {
        let gate = self.gate.load(Ordering::Acquire);
        if gate & 1 == 0 {
            return Some(self.pass(Pass::new(gate >> 1)));
        }
        self.admit_unless_open().map(|pass| self.pass(pass))
    }

    fn is_open(&self) -> bool {
        let circuit = &*self.circuit();
        let now = clock::now();
        match circuit.phase {
            Phase::Closed => false,
            Phase::Open { since, length } => is_within(since, length, now),
            Phase::HalfOpen {
                running,
                succeeded,
                places,
                since,
            } => {
                running.saturating_add(succeeded) >= places
                    && is_within(since, self.rule.open_for, now)
            }
        }
    }

    fn admit_hedge(&self) -> Option<Pass> {
        let gate = self.gate.load(Ordering::Acquire);
        let pass = if gate & 1 == 0 {
            Pass::new(gate >> 1)
        } else {
            let circuit = &mut *self.circuit();
            matches!(circuit.phase, Phase::Closed).then(|| circuit.begin())?
        };
        Some(self.pass(pass))
    }

    #[inline]
    fn record(&self, pass: Pass, seen: Seen) -> Option<Transition> {
        let is_current = self.gate.load(Ordering::Relaxed) == pass.stamp() << 1;
        if seen == Seen::Success && is_current && self.is_granted() {
            return None;
        }
        self.record_under_lock(&pass, seen)
    }
}

impl Rest for Breaker {
    fn is_at_rest(&self, _: bool) -> bool {
        let circuit = &mut *self.circuit();
        let now = clock::now();
        match circuit.phase {
            Phase::Closed => circuit.window.slide(now, self.rule.window).failed == 0,
            // Nobody has asked for it since.
            Phase::Open { since, length } => {
                !is_within(since, length.saturating_add(self.rule.window), now)
            }
            Phase::HalfOpen { since, .. } => !is_within(since, self.rule.window, now),
        }
    }
}

/// Shows its state: `open`.
impl fmt::Display for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state().fmt(f)
    }
}

impl fmt::Display for BreakerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half open",
        })
    }
}
