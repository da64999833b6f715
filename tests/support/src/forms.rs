//! All forms of a call, scenarios to run in each form, and the rules that hold in every form.

pub mod rules;

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use retry_runtime::{
    Breaker, Budget, CircuitBreaker, ConcurrencyLimiter, Event, EventData, Jitter, Kind, Place,
    Policy, Quota, RateLimiter, Verdict,
};
use tokio::join;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// Declares the enum and `Form::ALL` from one list, so that no form is missing in either.
macro_rules! forms {
    ($($(#[$doc:meta])* $form:ident,)*) => {
        /// A form of a call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Form {
            $($(#[$doc])* $form,)*
        }

        impl Form {
            /// All forms.
            pub const ALL: &[Self] = &[$(Self::$form),*];
        }
    };
}

forms! {
    /// `#[retry]` on an async function.
    Attribute,
    /// `#[retry]` on a blocking function.
    AttributeBlocking,
    /// `retrying!` with an async block.
    Expression,
    /// `retrying!` with a blocking block.
    ExpressionBlocking,
    /// `#[retry]` on an `impl` block.
    Block,
    /// `#[retry]` on a trait.
    Decorator,
    /// `stream = "first"`.
    StreamFirst,
    /// `stream = "buffer"`.
    StreamBuffer,
    /// `stream = "resume"`.
    StreamResume,
    /// The key `hedge`.
    Hedge,
    /// `Policy::call`.
    Chain,
    /// `Policy::call_blocking`.
    ChainBlocking,
    /// `retry_each`.
    Batch,
    /// `retry_each_blocking`.
    BatchBlocking,
    /// `Plan::run_until`.
    Plan,
    /// `RetryLayer::cloning`.
    LayerByClone,
    /// `RetryLayer::new`, over requests by HTTP.
    LayerOfHttp,
    /// `RetryMiddleware`, in a client of reqwest.
    Middleware,
}

impl Form {
    /// Returns true if the form retries a whole client. Such forms are tested in `tests/clients`, all others in
    /// `tests/behaviour`.
    pub const fn is_of_whole_client(self) -> bool {
        matches!(
            self,
            Self::LayerByClone | Self::LayerOfHttp | Self::Middleware
        )
    }

    /// The reason that a form has no key `timeout`. `None` if it has one.
    pub const fn lacks_timeout(self) -> Option<&'static str> {
        match self {
            Self::AttributeBlocking
            | Self::ExpressionBlocking
            | Self::ChainBlocking
            | Self::BatchBlocking => Some("an attempt that blocks its thread can't be dropped"),
            Self::Batch | Self::Plan => Some("batches and plans have no key `timeout`"),
            Self::Attribute
            | Self::Expression
            | Self::Block
            | Self::Decorator
            | Self::StreamFirst
            | Self::StreamBuffer
            | Self::StreamResume
            | Self::Hedge
            | Self::Chain
            | Self::LayerByClone
            | Self::LayerOfHttp
            | Self::Middleware => None,
        }
    }
}

/// A failure after which the request may have taken effect.
pub const AMBIGUOUS: Failure = Failure(Verdict::TRANSIENT.ambiguous());

/// The inputs of a call, and its expected outcome.
#[derive(Clone)]
pub struct Scenario {
    /// Changes the policy.
    pub policy: fn(Policy) -> Policy,
    /// The budget.
    pub budget: fn() -> Budget,
    /// The limiter.
    pub limiter: fn() -> RateLimiter<Quota>,
    /// Runs before the call.
    pub before: fn(&World),
    /// The time between `before` and the call.
    pub starts: Duration,
    /// The failures of the first attempts, in order; later attempts succeed.
    pub steps: Vec<Failure>,
    /// The duration of each attempt, in milliseconds.
    pub takes: Vec<u64>,
    /// The time limit of each attempt.
    pub limit: Duration,
    /// The verdict that `on` returns; by default, the error's own.
    pub verdict: Option<Verdict>,
    /// The key `idempotent`.
    pub idempotent: bool,
    /// The time at which the call is cancelled. In blocking forms, the first attempt cancels it instead.
    pub cancels: Option<Duration>,

    /// True if the call must succeed.
    pub succeeds: bool,
    /// The start times of the attempts, in milliseconds.
    pub begun: Vec<u64>,
    /// The events that observers see.
    pub told: Vec<&'static str>,
    /// The tokens left in the budget.
    pub tokens: f64,
    /// The time at which the call ends, in milliseconds; 0 if it is not checked.
    pub ends: u64,
}

/// A call without failures, delays or limits. The expected outcome must be set: by default it has no attempt.
impl Default for Scenario {
    fn default() -> Self {
        Self {
            policy: |policy| policy,
            budget: Budget::standard,
            limiter: || RateLimiter::fixed(1, Duration::from_secs(1)),
            before: |_| (),
            starts: Duration::ZERO,
            steps: Vec::new(),
            takes: Vec::new(),
            limit: Duration::MAX,
            verdict: None,
            idempotent: true,
            cancels: None,
            succeeds: false,
            begun: Vec::new(),
            told: Vec::new(),
            tokens: 500.0,
            ends: 0,
        }
    }
}

/// The observed or expected outcome of a call.
#[derive(Debug, PartialEq)]
struct Seen {
    succeeds: bool,
    begun: Vec<u64>,
    told: Vec<String>,
    tokens: f64,
    ends: u64,
    /// The attempts that wait for the limiter, and those that have a slot.
    held: (usize, u64),
}

/// The surroundings of one call: the values of its keys, its scripted attempts, and a record of the events.
pub struct World {
    /// Waits 1, 2, 4, … s.
    pub policy: Policy,
    /// The key `budget`.
    pub budget: Budget,
    /// Opens after two failures in a row.
    pub breaker: Arc<Breaker>,
    /// A rate limiter.
    pub limiter: RateLimiter<Quota>,
    /// A concurrency limiter.
    pub slots: ConcurrencyLimiter,
    /// Cancels the call.
    pub token: CancellationToken,
    /// The key `timeout`.
    pub limit: Duration,
    /// The key `idempotent`.
    pub idempotent: bool,
    verdict: Option<Verdict>,
    steps: Vec<Failure>,
    takes: Vec<u64>,
    is_cancelled_by_attempt: bool,
    start: Mutex<Instant>,
    begun: Mutex<Vec<u64>>,
    told: Mutex<Vec<String>>,
}

impl World {
    fn new(scenario: &Scenario) -> Self {
        Self {
            policy: (scenario.policy)(Policy::new().jitter(Jitter::None)),
            budget: (scenario.budget)(),
            breaker: Arc::new(Breaker::new().consecutive_failures(2)),
            limiter: (scenario.limiter)(),
            slots: ConcurrencyLimiter::aimd(),
            token: CancellationToken::new(),
            limit: scenario.limit,
            idempotent: scenario.idempotent,
            verdict: scenario.verdict,
            steps: scenario.steps.clone(),
            takes: scenario.takes.clone(),
            is_cancelled_by_attempt: scenario.cancels.is_some(),
            start: Mutex::new(Instant::now()),
            begun: Mutex::default(),
            told: Mutex::default(),
        }
    }

    fn elapsed(&self) -> u64 {
        let elapsed = self.start.lock().unwrap().elapsed().as_millis();
        elapsed.try_into().expect("small")
    }

    /// Makes an attempt.
    pub async fn attempt(&self) -> Result<u32, Failure> {
        let attempt = self.begin();
        if let Some(millis) = self.takes.get(attempt) {
            sleep(Duration::from_millis(*millis)).await;
        }
        self.outcome(attempt)
    }

    /// Makes an attempt that takes no time.
    pub fn attempt_blocking(&self) -> Result<u32, Failure> {
        let attempt = self.begin();
        if self.is_cancelled_by_attempt {
            self.token.cancel();
        }
        self.outcome(attempt)
    }

    fn begin(&self) -> usize {
        let now = self.elapsed();
        let mut begun = self.begun.lock().unwrap();
        begun.push(now);
        begun.len() - 1
    }

    fn outcome(&self, attempt: usize) -> Result<u32, Failure> {
        self.steps.get(attempt).cloned().map_or(Ok(42), Err)
    }

    /// The key `on`.
    pub fn on(&self, error: &Failure) -> Verdict {
        self.verdict.unwrap_or(error.0)
    }

    /// The key `before_pause`. Recorded only after the call was cancelled, because not every form sets this key.
    pub fn before_pause(&self) {
        if self.token.is_cancelled() {
            self.told.lock().unwrap().push(String::from("pausing"));
        }
    }

    /// Records a failure of another call.
    pub fn fail_at_breaker(&self) {
        let kind = Kind::Transient;
        self.tell_breaker(retry_runtime::Seen::Failure { kind, hint: None });
    }

    /// Records the outcome of another call's attempt.
    pub fn tell_breaker(&self, seen: retry_runtime::Seen) {
        let pass = self.breaker.admit().expect("closed");
        self.breaker.record(pass, seen);
    }

    /// Takes the turn that the limiter has now.
    pub fn take_turn(&self) {
        let mut place = Place::new(&self.limiter);
        assert!(place.has_turn());
        place.succeeded();
    }

    /// Records an event, without error texts. Skips the progress and the failed items of batches, which no other form
    /// reports.
    pub fn tell(&self, event: &Event<'_>) {
        if let EventData::Progressed { .. } | EventData::ItemsFailed { .. } = event.data {
            return;
        }
        let attempt = event.attempt;
        self.told.lock().unwrap().push(match event.data {
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

    /// Records the events of a plan with one subtask as those of a single call: `Retrying` as the plan reports it, and
    /// all others as the subtask does. Skips `AttemptFailed`, which a single call doesn't report.
    pub fn tell_of_plan(&self, event: &Event<'_>) {
        let of_plan = event.call == "call";
        let of_round = matches!(event.data, EventData::Retrying { .. });
        if of_plan == of_round && !matches!(event.data, EventData::AttemptFailed { .. }) {
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
    *world.start.lock().unwrap() = Instant::now();
    let cancel = async {
        if let Some(after) = scenario.cancels {
            sleep(after).await;
            world.token.cancel();
        }
    };
    let called = async { (call(&world).await, world.elapsed()) };
    let ((succeeded, ends), ()) = join!(called, cancel);
    let seen = Seen {
        succeeds: succeeded,
        begun: world.begun.lock().unwrap().clone(),
        told: world.told.lock().unwrap().clone(),
        tokens: world.budget.available(),
        ends: if scenario.ends == 0 { 0 } else { ends },
        held: (world.limiter.waiting(), world.slots.running()),
    };
    let expected = Seen {
        succeeds: scenario.succeeds,
        begun: scenario.begun.clone(),
        told: scenario.told.iter().map(ToString::to_string).collect(),
        tokens: scenario.tokens,
        ends: scenario.ends,
        held: (0, 0),
    };
    if seen == expected {
        Vec::new()
    } else {
        vec![format!("{form:?}: got {seen:?}, expected {expected:?}")]
    }
}
