//! A scenario, and what is seen of it.

use std::cell::RefCell;
use std::time::Duration;

use futures::join;
use retry_runtime::{
    Breaker, Budget, CircuitBreaker, ConcurrencyLimiter, Event, EventData, Jitter, Kind, Place,
    Policy, Quota, RateLimiter, Seen, Verdict,
};
use support::failure::Failure;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// After which the request may have taken effect.
pub(super) const AMBIGUOUS: Failure = Failure(Verdict::TRANSIENT.ambiguous());

/// What a call meets, and what comes of it.
#[derive(Clone)]
pub(super) struct Scenario {
    pub(super) policy: fn(Policy) -> Policy,
    pub(super) budget: fn() -> Budget,
    pub(super) limiter: fn() -> RateLimiter<Quota>,
    /// What happens before the call, and how long before.
    pub(super) before: fn(&World),
    pub(super) starts: Duration,
    /// How each attempt fails, and how many milliseconds it takes.
    pub(super) steps: Vec<Failure>,
    pub(super) takes: Vec<u64>,
    /// When it is cancelled.
    pub(super) cancels: Option<Duration>,

    pub(super) succeeds: bool,
    /// When attempts begin, in milliseconds.
    pub(super) begun: Vec<u64>,
    /// What observers see.
    pub(super) told: Vec<&'static str>,
    /// What is left in the budget.
    pub(super) tokens: f64,
    /// When the call ends in milliseconds, unless with an attempt.
    pub(super) ends: u64,
}

impl Scenario {
    pub(super) fn new() -> Self {
        Self {
            policy: |policy| policy,
            budget: Budget::standard,
            limiter: || RateLimiter::fixed(1, Duration::from_secs(1)),
            before: |_| (),
            starts: Duration::ZERO,
            steps: Vec::new(),
            takes: Vec::new(),
            cancels: None,
            succeeds: false,
            begun: Vec::new(),
            told: Vec::new(),
            tokens: 500.0,
            ends: 0,
        }
    }
}

/// What a call meets, what its keys name, and what was seen of it.
pub(super) struct World {
    pub(super) policy: Policy,
    pub(super) budget: Budget,
    pub(super) breaker: Breaker,
    pub(super) limiter: RateLimiter<Quota>,
    pub(super) slots: ConcurrencyLimiter,
    pub(super) token: CancellationToken,
    steps: Vec<Failure>,
    takes: Vec<u64>,
    start: RefCell<Instant>,
    begun: RefCell<Vec<u64>>,
    told: RefCell<Vec<String>>,
}

impl World {
    fn new(scenario: &Scenario) -> Self {
        Self {
            // Waits 1, 2, 4, … s.
            policy: (scenario.policy)(Policy::new().jitter(Jitter::None)),
            budget: (scenario.budget)(),
            breaker: Breaker::new().consecutive_failures(2),
            limiter: (scenario.limiter)(),
            slots: ConcurrencyLimiter::aimd(),
            token: CancellationToken::new(),
            steps: scenario.steps.clone(),
            takes: scenario.takes.clone(),
            start: RefCell::new(Instant::now()),
            begun: RefCell::default(),
            told: RefCell::default(),
        }
    }

    fn elapsed(&self) -> u64 {
        let elapsed = self.start.borrow().elapsed().as_millis();
        elapsed.try_into().expect("small")
    }

    pub(super) async fn attempt(&self) -> Result<u32, Failure> {
        let attempt = self.begun.borrow().len();
        self.begun.borrow_mut().push(self.elapsed());
        if let Some(millis) = self.takes.get(attempt) {
            sleep(Duration::from_millis(*millis)).await;
        }
        self.steps.get(attempt).cloned().map_or(Ok(42), Err)
    }

    pub(super) fn fail_at_breaker(&self) {
        let kind = Kind::Transient;
        self.tell_breaker(Seen::Failure { kind, hint: None });
    }

    pub(super) fn tell_breaker(&self, seen: Seen) {
        let pass = self.breaker.admit().expect("closed");
        self.breaker.record(pass, seen);
    }

    /// Takes what the limiter has now.
    pub(super) fn take_turn(&self) {
        let mut place = Place::new(&self.limiter);
        assert!(place.has_turn());
        place.succeeded();
    }

    /// Without the texts of errors, and without how far a batch is and which of its items failed.
    pub(super) fn tell(&self, event: &Event<'_>) {
        if let EventData::Progressed { .. } | EventData::ItemsFailed { .. } = event.data {
            return;
        }
        let attempt = event.attempt;
        self.told.borrow_mut().push(match event.data {
            EventData::Started => format!("starting {attempt}"),
            EventData::Retrying { delay, kind, .. } => {
                format!("retrying {attempt} after {delay:?}: {kind}")
            }
            EventData::GaveUp { reason, .. } => format!("gave up {attempt}: {reason}"),
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

    /// Of a plan with one subtask: of the plan when it is retried, of the subtask all else. That its attempts fail beside
    /// others is so in plans alone.
    pub(super) fn tell_of_plan(&self, event: &Event<'_>) {
        let of_plan = event.call == "call";
        let of_round = matches!(event.data, EventData::Retrying { .. });
        if of_plan == of_round && !matches!(event.data, EventData::AttemptFailed { .. }) {
            self.tell(event);
        }
    }
}

/// Makes the call in one form, and looks whether all is as the scenario says.
pub(super) async fn seen(form: &str, scenario: &Scenario, call: impl AsyncFnOnce(&World) -> bool) {
    let world = World::new(scenario);
    (scenario.before)(&world);
    sleep(scenario.starts).await;
    *world.start.borrow_mut() = Instant::now();
    let cancel = async {
        if let Some(after) = scenario.cancels {
            sleep(after).await;
            world.token.cancel();
        }
    };
    let called = async { (call(&world).await, world.elapsed()) };
    let ((succeeded, ends), ()) = join!(called, cancel);
    assert_eq!(*world.told.borrow(), scenario.told, "{form}");
    assert_eq!(*world.begun.borrow(), scenario.begun, "{form}");
    assert_eq!(succeeded, scenario.succeeds, "{form}");
    assert_eq!((form, world.budget.available()), (form, scenario.tokens));
    let takes = scenario.begun.last().copied().unwrap_or_default();
    if scenario.ends > 0 {
        assert_eq!(ends, scenario.ends, "{form}");
    } else {
        assert!(ends >= takes, "{form}");
    }
    assert_eq!(
        (world.limiter.waiting(), world.slots.running()),
        (0, 0),
        "{form}"
    );
}
