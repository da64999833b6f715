//! The surroundings of one call, and the record of what it did.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

use retry_protections::{Breaker, ConcurrencyLimiter, Quota, RateLimiter};
use retry_runtime::own_loop::NextAttempt;
use retry_runtime::seam::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, BlockingTimer, Changes,
    DefaultTimer, Moment, Permit, RetryBudget, Timer,
};
use retry_runtime::{Budget, Event, EventData, Kind, Policy, Verdict, testing};
use tokio::join;
use tokio::time::{advance, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Gate, Key, Scenario};
use crate::failure::Failure;
use crate::held_permit::{Admit, HeldPermit};

/// The time since the start of a call, and the timer of blocking forms, which skips pauses.
#[derive(Debug)]
pub struct Clock {
    start: Mutex<Moment>,
    stalls: Range<u64>,
}

impl Clock {
    /// Returns the time since the start of the call, in milliseconds.
    fn elapsed(&self) -> u64 {
        let elapsed = Timer::now(&DefaultTimer).since(*self.start.lock().unwrap());
        elapsed.as_millis().try_into().expect("small")
    }

    /// The time that a sleep takes: one that would end while the timer stalls ends after that.
    fn stalled(&self, sleep: Duration) -> Duration {
        let elapsed = Duration::from_millis(self.elapsed());
        let end = Duration::from_millis(self.stalls.end);
        let awake = end.saturating_sub(elapsed);
        let asleep = Duration::from_millis(self.stalls.start).saturating_sub(elapsed);
        if (asleep..awake).contains(&sleep) {
            awake
        } else {
            sleep
        }
    }
}

impl BlockingTimer for Clock {
    fn sleep(&self, duration: Duration) {
        BlockingTimer::to_sleep(&DefaultTimer, self.stalled(duration));
    }

    fn now(&self) -> Moment {
        Timer::now(&DefaultTimer)
    }
}

/// A breaker that counts the passes that it has given and not yet got back.
#[derive(Debug)]
pub struct Watched {
    breaker: Breaker,
    down: Range<u64>,
    clock: Arc<Clock>,
    given: AtomicI32,
    out: AtomicI32,
}

impl Watched {
    fn is_down(&self) -> bool {
        self.down.contains(&self.clock.elapsed())
    }
}

impl AdmissionControl for Watched {
    fn enter(&self, cost: u32) -> Permit {
        self.breaker.enter(cost)
    }

    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        if self.is_down() {
            return Admission::Rejected;
        }
        let admission = self.breaker.poll(permit, waker);
        if admission == Admission::Admitted {
            self.given.fetch_add(1, SeqCst);
            self.out.fetch_add(1, SeqCst);
        }
        admission
    }

    fn is_open(&self) -> bool {
        self.is_down() || self.breaker.is_open()
    }

    fn half_open_in(&self) -> Option<Duration> {
        self.breaker.half_open_in()
    }

    fn state(&self) -> AdmissionState {
        AdmissionControl::state(&self.breaker)
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        if outcome != AttemptOutcome::NotBegun {
            self.out.fetch_sub(1, SeqCst);
        }
        self.breaker.leave(permit, outcome)
    }
}

/// The observed or expected outcome of a call.
#[derive(Debug, PartialEq)]
struct Seen {
    succeeds: bool,
    begun: Vec<u64>,
    reported: Vec<String>,
    tokens: f64,
    turns: Option<u32>,
    ends: u64,
    /// The attempts that wait for a limiter, and those that have a slot.
    held: (usize, u64),
    /// The passes that the breaker gave, and those that it did not get back.
    passes: (i32, i32),
}

/// The surroundings of one call: the values of its keys, its scripted attempts, and a record of the events.
pub struct World {
    /// Waits 1, 2, 4, … s.
    pub policy: Policy,
    /// The key `budget`.
    pub budget: Arc<Budget>,
    /// The key `breaker`.
    pub breaker: Arc<Watched>,
    /// A rate limiter.
    pub limiter: Arc<RateLimiter<Quota>>,
    /// A concurrency limiter.
    pub slots: Arc<ConcurrencyLimiter>,
    /// The key `limiter`.
    pub gate: Option<Arc<dyn AdmissionControl + Send + Sync>>,
    /// The key `timer` of blocking forms.
    pub clock: Arc<Clock>,
    /// Cancels the call.
    pub token: CancellationToken,
    /// The key `timeout`.
    pub limit: Duration,
    /// The key `idempotent`.
    pub idempotent: bool,
    /// The key `enabled`.
    pub enabled: bool,
    /// The key `repeats`.
    pub repeats: u32,
    /// True if the call has a `fallback`.
    pub falls_back: bool,
    scenario: Scenario,
    begun: Mutex<Vec<u64>>,
    reported: Mutex<Vec<String>>,
    /// The end of a blocking call, and the turns left then.
    ended: Mutex<Option<(u64, u32)>>,
}

impl World {
    fn new(scenario: &Scenario) -> Self {
        let limiter = Arc::new((scenario.limiter)());
        let slots = Arc::new(ConcurrencyLimiter::aimd());
        let clock = Arc::new(Clock {
            start: Mutex::new(Timer::now(&DefaultTimer)),
            stalls: scenario.stalls.clone(),
        });
        Self {
            policy: (scenario.policy)(scenario.numbers),
            budget: Arc::new((scenario.budget)()),
            breaker: Arc::new(Watched {
                breaker: Breaker::new().consecutive_failures(scenario.opens_after),
                down: scenario.down.clone(),
                clock: Arc::clone(&clock),
                given: AtomicI32::new(0),
                out: AtomicI32::new(0),
            }),
            gate: match scenario.gate {
                Gate::Open => None,
                Gate::Rate => Some(limiter.clone()),
                Gate::Slots => Some(slots.clone()),
            },
            limiter,
            slots,
            clock,
            token: CancellationToken::new(),
            limit: scenario.limit,
            idempotent: scenario.idempotent,
            enabled: scenario.enabled,
            repeats: scenario.repeats,
            falls_back: scenario.keys.contains(&Key::Fallback),
            scenario: scenario.clone(),
            begun: Mutex::default(),
            reported: Mutex::default(),
            ended: Mutex::default(),
        }
    }

    fn elapsed(&self) -> u64 {
        self.clock.elapsed()
    }

    /// The time, and the whole turns that are left.
    fn end(&self) -> (u64, u32) {
        let turns = (1..=9).take_while(|turns| self.limiter.available() >= f64::from(*turns));
        (self.elapsed(), turns.last().unwrap_or(0))
    }

    /// Makes a blocking call, whose time is skipped.
    pub fn skipping(&self, call: impl FnOnce() -> bool) -> bool {
        let _skipped = testing::skip_sleeps();
        let succeeds = call();
        *self.ended.lock().unwrap() = Some(self.end());
        succeeds
    }

    /// The policy, with `enabled`: for forms that have that key in their policy only.
    pub fn policy_with_enabled(&self) -> Policy {
        if self.enabled {
            self.policy
        } else {
            self.policy.enabled(false)
        }
    }

    /// Makes an attempt.
    pub async fn attempt(&self) -> Result<u32, Failure> {
        let (attempt, takes) = self.begin();
        sleep(takes).await;
        self.outcome(attempt)
    }

    /// Makes an attempt that blocks its thread.
    pub fn attempt_blocking(&self) -> Result<u32, Failure> {
        let (attempt, takes) = self.begin();
        BlockingTimer::sleep(&self.clock, takes);
        self.outcome(attempt)
    }

    fn begin(&self) -> (usize, Duration) {
        let now = self.elapsed();
        let mut begun = self.begun.lock().unwrap();
        begun.push(now);
        let attempt = begun.len() - 1;
        let takes = self.scenario.takes.get(attempt).copied();
        (attempt, Duration::from_millis(takes.unwrap_or_default()))
    }

    /// The value is the attempt's number.
    fn outcome(&self, attempt: usize) -> Result<u32, Failure> {
        let value = u32::try_from(attempt).expect("small") + 1;
        let failure = self.scenario.steps.get(attempt);
        failure.cloned().map_or(Ok(value), Err)
    }

    /// The key `on`.
    pub fn on(&self, error: &Failure) -> Verdict {
        self.scenario.verdict.unwrap_or(error.0)
    }

    /// The key `until`.
    pub fn until(&self, value: u32) -> bool {
        value > self.scenario.rejects
    }

    /// Returns true from the time at which the call is cancelled: the key `cancel` of blocking forms.
    pub fn is_cancelled(&self) -> bool {
        let cancels = self.scenario.cancels;
        cancels.is_some_and(|after| Duration::from_millis(self.elapsed()) >= after)
    }

    /// The keys `before_pause` and `before_retry`.
    pub async fn hook(&self, hook: Key, next: NextAttempt) -> Result<(), &'static str> {
        sleep(self.begin_hook(hook, next)).await;
        self.end_hook(hook)
    }

    /// Like `hook`, for blocking forms.
    pub fn hook_blocking(&self, hook: Key, next: NextAttempt) -> Result<(), &'static str> {
        BlockingTimer::sleep(&self.clock, self.begin_hook(hook, next));
        self.end_hook(hook)
    }

    /// Recorded only if the scenario is about hooks, or if none may run. Returns the time that the hook takes.
    fn begin_hook(&self, hook: Key, next: NextAttempt) -> Duration {
        if self.scenario.keys.contains(&hook) || self.is_cancelled() {
            let seen = format!("{hook:?} {} in {:?}", next.number(), next.pause());
            self.reported.lock().unwrap().push(seen);
        }
        let [pause, retry] = self.scenario.hooks_take;
        Duration::from_millis(if hook == Key::BeforePause {
            pause
        } else {
            retry
        })
    }

    fn end_hook(&self, hook: Key) -> Result<(), &'static str> {
        if self.scenario.failing_hook == Some(hook) {
            Err("closing")
        } else {
            Ok(())
        }
    }

    /// Records a failure of another call.
    pub fn fail_at_breaker(&self) {
        self.breaker.breaker.fail();
    }

    /// Takes the turn that the limiter has now.
    pub fn take_turn(&self) {
        let mut place = HeldPermit::new(&self.limiter);
        assert!(place.has_turn());
        place.succeeded();
    }

    /// Pays for a retry of another call.
    pub fn withdraw(&self) {
        assert!(self.budget.withdraw(Kind::Transient));
    }

    /// Records an event, without error texts. Skips the progress and the failed items of batches, which no other form
    /// reports.
    pub fn tell(&self, event: &Event<'_>) {
        if let EventData::Progressed { .. } | EventData::ItemsFailed { .. } = event.data {
            return;
        }
        let attempt = event.attempt;
        self.reported.lock().unwrap().push(match event.data {
            EventData::Started => format!("starting {attempt}"),
            EventData::Retrying { delay, kind, .. } => {
                format!("retrying {attempt} after {delay:?}: {kind}")
            }
            EventData::GaveUp { reason, .. } => format!("gave up {attempt}: {reason}"),
            EventData::FallingBack { reason, .. } => format!("falling back {attempt}: {reason}"),
            EventData::FellBack { .. } => format!("fell back {attempt}"),
            EventData::Succeeded { .. } => format!("succeeded {attempt}"),
            EventData::Hedging { .. } => format!("hedging {attempt}"),
            EventData::AttemptFailed { kind, .. } => format!("failed {attempt}: {kind}"),
            EventData::BreakerOpened { .. } => format!("breaker opened {attempt}"),
            EventData::BreakerHalfOpened => format!("breaker half open {attempt}"),
            EventData::BreakerClosed => format!("breaker closed {attempt}"),
            EventData::Waiting { .. } => format!("waiting {attempt}"),
            EventData::Waited { waited } => format!("waited {attempt} for {waited:?}"),
            EventData::LimiterPaused { pause } => format!("limiter paused {attempt} for {pause:?}"),
            EventData::LimiterResumed => format!("limiter resumed {attempt}"),
            EventData::LimitChanged { limit } => format!("limit {attempt}: {limit}"),
            _ => event.to_string(),
        });
    }

    /// Records the events of a plan with one subtask as those of a single call: `Retrying` as the plan reports it, and
    /// all others as the subtask does. Skips `AttemptFailed`, which a single call doesn't report.
    pub fn tell_of_plan(&self, event: &Event<'_>) {
        let is_of_plan = event.call == "call";
        let is_of_round = match event.data {
            EventData::Retrying { kind, .. } => kind != Kind::Rejected,
            _ => false,
        };
        if is_of_plan == is_of_round && !matches!(event.data, EventData::AttemptFailed { .. }) {
            self.tell(event);
        }
    }
}

/// Makes the call in one form, and panics unless the outcome is the expected one.
pub async fn seen(
    form: impl Debug,
    scenario: &Scenario,
    call: impl AsyncFnOnce(&Arc<World>) -> bool,
) {
    let differences = differences(form, scenario, call).await;
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Makes the call in one form. Returns the differences from the expected outcome.
pub async fn differences(
    form: impl Debug,
    scenario: &Scenario,
    call: impl AsyncFnOnce(&Arc<World>) -> bool,
) -> Vec<String> {
    let world = Arc::new(World::new(scenario));
    (scenario.before)(&world);
    sleep(scenario.starts).await;
    *world.clock.start.lock().unwrap() = Timer::now(&DefaultTimer);
    let cancel = async {
        if let Some(after) = scenario.cancels {
            sleep(after).await;
            world.token.cancel();
        }
    };
    // For async forms.
    let stall = async {
        let Range { start, end } = scenario.stalls;
        if start < end && world.ended.lock().unwrap().is_none() {
            sleep(Duration::from_millis(start - 1)).await;
            advance(Duration::from_millis(end - start + 1)).await;
        }
    };
    let called = async {
        let call = call(&world);
        let succeeds = match scenario.drops {
            Some(after) => timeout(after, call).await.unwrap_or(false),
            None => call.await,
        };
        let ended = *world.ended.lock().unwrap();
        (succeeds, ended.unwrap_or_else(|| world.end()))
    };
    let ((succeeds, (ends, turns)), (), ()) = join!(called, cancel, stall);
    let begun = world.begun.lock().unwrap().clone();
    let given = world.breaker.given.load(SeqCst);
    let seen = Seen {
        succeeds,
        reported: world.reported.lock().unwrap().clone(),
        tokens: world.budget.available(),
        turns: scenario.turns.and(Some(turns)),
        ends: if scenario.ends == 0 { 0 } else { ends },
        held: (
            world.limiter.waiting() + world.slots.waiting(),
            world.slots.running(),
        ),
        passes: (given, world.breaker.out.load(SeqCst)),
        begun,
    };
    // A form of a scenario without keys may have no breaker.
    let has_all_keys = !scenario.keys.is_empty();
    let attempts = i32::try_from(seen.begun.len()).expect("small");
    let expected = Seen {
        succeeds: scenario.succeeds,
        begun: scenario.begun.clone(),
        reported: scenario.reported.iter().map(ToString::to_string).collect(),
        tokens: scenario.tokens,
        turns: scenario.turns,
        ends: scenario.ends,
        held: (0, 0),
        passes: (if has_all_keys { attempts } else { given }, 0),
    };
    if seen == expected {
        Vec::new()
    } else {
        vec![format!("{form:?}: got\n{seen:?}, expected\n{expected:?}")]
    }
}
