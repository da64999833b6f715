//! What an event adds to the figures of its call, and what the adapters for metrics call these figures.

use core::fmt;
use core::time::Duration;

use crate::admission::AdmissionControl;
use crate::admission::state::BreakerState;
use crate::budget::bucket::Budget;
use crate::observe::event::CallEnd;
use crate::observe::{AttemptEnd, Event, EventData};

/// What the adapters call a figure: the crate `metrics`, and OpenTelemetry, with its unit there.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(all(feature = "metrics", feature = "opentelemetry")),
    allow(dead_code, reason = "each adapter has a name of its own")
)]
pub(super) struct Figure {
    pub(super) sort: Sort,
    pub(super) metric: &'static str,
    pub(super) instrument: &'static str,
    pub(super) unit: &'static str,
    pub(super) about: &'static str,
}

pub(super) const SECONDS: &str = "s";

#[derive(Clone, Copy)]
pub(super) enum Sort {
    Counter,
    Histogram,
    Gauge,
}

/// What is measured, and the figure of each in that order.
macro_rules! figures {
    ($($measured:ident $sort:ident $metric:literal $instrument:literal $unit:expr, $about:literal;)*) => {
        #[derive(Clone, Copy)]
        pub(super) enum Measured {
            $($measured),*
        }

        pub(super) const FIGURES: [Figure; [$(Measured::$measured),*].len()] = [$(Figure {
            sort: Sort::$sort,
            metric: $metric,
            instrument: $instrument,
            unit: $unit,
            about: $about,
        }),*];
    };
}

figures! {
    Calls Counter "retry_calls_total" "retry.calls" "{call}",
        "Calls that ended, by outcome: succeeded, fell back, or the reason of giving up";
    Attempts Counter "retry_attempts_total" "retry.attempts" "{attempt}",
        "Attempts and corrections that ended, by kind: succeeded, stop, the kind of failure, or rejected (not sent)";
    Openings Counter "retry_breaker_openings_total" "retry.breaker.openings" "{opening}",
        "Times that a breaker opened, by the call whose attempt opened it";
    CallDuration Histogram "retry_call_duration_seconds" "retry.call.duration" SECONDS,
        "How long calls took, with their pauses and waits, by outcome";
    AttemptDuration Histogram "retry_attempt_duration_seconds" "retry.attempt.duration" SECONDS,
        "How long attempts took, by kind: succeeded, stop, or the kind of failure";
    AttemptsPerCall Histogram "retry_attempts_per_call" "retry.attempts_per_call" "{attempt}",
        "Attempts that each call made until it ended, unless it made none";
    Delay Histogram "retry_delay_seconds" "retry.delay" SECONDS,
        "Pauses before retries and corrections";
    Wait Histogram "retry_wait_seconds" "retry.wait" SECONDS,
        "Waits of attempts for their turn with a limiter";
    Budget Gauge "retry_budget_available" "retry.budget.available" "{token}",
        "Tokens that a budget has left";
    Breaker Gauge "retry_breaker_state" "retry.breaker.state" "1",
        "State of a breaker: 0 closed, 1 half open, 2 open";
    Running Gauge "retry_limiter_running" "retry.limiter.running" "{attempt}",
        "Attempts that run behind a limiter";
    Waiting Gauge "retry_limiter_waiting" "retry.limiter.waiting" "{attempt}",
        "Attempts that wait for their turn with a limiter";
    Limit Gauge "retry_limiter_limit" "retry.limiter.limit" "{attempt}",
        "Attempts that a limiter lets run at a time";
    Rate Gauge "retry_limiter_rate" "retry.limiter.rate" "{cost}/s",
        "Cost that a limiter lets begin per second";
}

/// The key of a label, as OpenTelemetry has it, and its value.
pub(super) type Label<'a> = (&'static str, Value<'a>);

#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Name(&'a str),
    Flag(bool),
}

/// What measures, of another crate.
pub(super) trait Instruments {
    /// Records a value, which counters take for 1.
    fn measure(&self, what: Measured, value: f64, labels: &[Label<'_>]);
}

/// Measures an event, and what calls share.
pub(super) fn measure(event: &Event<'_>, shared: &Gauged<'_>, to: &impl Instruments) {
    let name = ("retry.name", Value::Name(event.call));
    let took = |what, time: Option<Duration>, labels: &[Label<'_>]| {
        if let Some(time) = time {
            to.measure(what, time.as_secs_f64(), labels);
        }
    };
    if let Some(end) = event.attempt_end() {
        let labels = [name, ("retry.kind", Value::Name(end.name()))];
        to.measure(Measured::Attempts, 1.0, &labels);
        took(Measured::AttemptDuration, event.attempt_elapsed(), &labels);
    }
    took(Measured::Delay, event.pause(), &[name]);
    match event.data {
        EventData::Waited { waited } => took(Measured::Wait, Some(waited), &[name]),
        EventData::BreakerOpened { .. } => to.measure(Measured::Openings, 1.0, &[name]),
        _ => {}
    }
    if let Some((attempts, end)) = event.call_end() {
        let outcome = ("retry.outcome", Value::Name(end.name()));
        let retried = ("retry.retried", Value::Flag(attempts > 1));
        to.measure(Measured::Calls, 1.0, &[name, outcome, retried]);
        took(Measured::CallDuration, event.elapsed(), &[name, outcome]);
        // A call that was rejected before its first attempt would lower the mean to below 1.
        if attempts > 0 {
            to.measure(Measured::AttemptsPerCall, attempts.into(), &[name]);
        }
    }
    for shared in shared.0.iter().flatten() {
        shared.measure(to);
    }
}

/// What calls share, each with the name that it is shown under.
#[derive(Clone, Copy)]
pub(super) enum Shared<'a> {
    Budget(&'a str, &'a Budget),
    Breaker(&'a str, &'a (dyn AdmissionControl + Sync)),
    Limiter(&'a str, &'a (dyn AdmissionControl + Sync)),
}

/// As many as a constant has room for.
#[derive(Clone, Copy, Default)]
pub(super) struct Gauged<'a>([Option<Shared<'a>>; 16]);

impl<'a> Gauged<'a> {
    pub(super) const NONE: Self = Self([None; 16]);

    pub(super) const fn with(mut self, shared: Shared<'a>) -> Self {
        let mut at = 0;
        while self.0[at].is_some() {
            at += 1;
            assert!(
                at < self.0.len(),
                "an observer shows at most 16 of what calls share"
            );
        }
        self.0[at] = Some(shared);
        self
    }
}

impl Shared<'_> {
    fn measure(&self, to: &impl Instruments) {
        match *self {
            Self::Budget(name, budget) => {
                let label = ("retry.budget", Value::Name(name));
                to.measure(Measured::Budget, budget.available(), &[label]);
            }
            Self::Breaker(name, breaker) => {
                let label = ("retry.breaker", Value::Name(name));
                let state = breaker.state().circuit.unwrap_or(if breaker.is_open() {
                    BreakerState::Open
                } else {
                    BreakerState::Closed
                });
                to.measure(Measured::Breaker, number_of(state), &[label]);
            }
            Self::Limiter(name, limiter) => {
                let label = ("retry.limiter", Value::Name(name));
                let state = limiter.state();
                let whole = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
                for (what, value) in [
                    (Measured::Running, state.running.map(whole)),
                    (
                        Measured::Waiting,
                        state.waiting.map(|waiting| whole(waiting as u64)),
                    ),
                    (Measured::Limit, state.limit.map(f64::from)),
                    (Measured::Rate, state.rate),
                ] {
                    if let Some(value) = value {
                        to.measure(what, value, &[label]);
                    }
                }
            }
        }
    }
}

/// A breaker or a limiter may not be [`Debug`](fmt::Debug): their names.
impl fmt::Debug for Gauged<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().flatten().map(|shared| match shared {
            Shared::Budget(name, _) | Shared::Breaker(name, _) | Shared::Limiter(name, _) => name,
        });
        f.debug_list().entries(names).finish()
    }
}

impl AttemptEnd {
    const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Stop => "stop",
            Self::Failed(kind) => kind.name(),
        }
    }
}

impl CallEnd {
    const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::FellBack => "fell back",
            Self::GaveUp(reason) => reason.name(),
        }
    }
}

/// The number that stands for that state, the worse the higher.
const fn number_of(state: BreakerState) -> f64 {
    match state {
        BreakerState::Closed | BreakerState::ForcedClosed => 0.0,
        BreakerState::HalfOpen => 1.0,
        BreakerState::Open | BreakerState::ForcedOpen => 2.0,
    }
}
