//! The values that an event adds to metrics, and the names of these metrics in each adapter.

use std::fmt;
use std::time::Duration;

use retry_runtime::macro_support::CallEnd;
use retry_runtime::seam::{AdmissionControl, BreakerState};
use retry_runtime::{AttemptEnd, Budget, Event, EventData, Observer};

/// A metric's name in the crate `metrics`, and its name and unit in OpenTelemetry.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(all(feature = "metrics", feature = "opentelemetry")),
    allow(dead_code, reason = "each adapter uses its own name")
)]
pub(super) struct Figure {
    pub(super) sort: Sort,
    pub(super) metric: &'static str,
    pub(super) instrument: &'static str,
    pub(super) unit: &'static str,
    pub(super) help: &'static str,
}

pub(super) const SECONDS: &str = "s";

#[derive(Clone, Copy)]
pub(super) enum Sort {
    Counter,
    Histogram,
    Gauge,
}

/// Defines the measured values, and the metric of each in the same order.
macro_rules! figures {
    ($($measured:ident $sort:ident $metric:literal $instrument:literal $unit:expr, $help:literal;)*) => {
        #[derive(Clone, Copy)]
        pub enum Measured {
            $($measured),*
        }

        pub(super) const FIGURES: [Figure; [$(Measured::$measured),*].len()] = [$(Figure {
            sort: Sort::$sort,
            metric: $metric,
            instrument: $instrument,
            unit: $unit,
            help: $help,
        }),*];
    };
}

figures! {
    Calls Counter "retry_calls_total" "retry.calls" "{call}",
        "Calls that ended, by outcome: succeeded, fell back, or the reason of giving up";
    Attempts Counter "retry_attempts_total" "retry.attempts" "{attempt}",
        "Attempts and corrections that ended, by kind: succeeded, stop, the kind of failure, or rejected (not sent)";
    Openings Counter "retry_breaker_openings_total" "retry.breaker.openings" "{opening}",
        "Breaker openings, by the call whose attempt opened the breaker";
    CallDuration Histogram "retry_call_duration_seconds" "retry.call.duration" SECONDS,
        "Durations of calls, including their pauses and waits, by outcome";
    AttemptDuration Histogram "retry_attempt_duration_seconds" "retry.attempt.duration" SECONDS,
        "Durations of attempts, by kind: succeeded, stop, or the kind of failure";
    AttemptsPerCall Histogram "retry_attempts_per_call" "retry.attempts_per_call" "{attempt}",
        "Attempts that each call made until it ended, unless it made none";
    Delay Histogram "retry_delay_seconds" "retry.delay" SECONDS,
        "Pauses before retries and corrections";
    Wait Histogram "retry_wait_seconds" "retry.wait" SECONDS,
        "Waits of attempts in a limiter's queue";
    Budget Gauge "retry_budget_available" "retry.budget.available" "{token}",
        "Tokens that a budget has left";
    Breaker Gauge "retry_breaker_state" "retry.breaker.state" "1",
        "State of a breaker: 0 closed, 1 half open, 2 open";
    Running Gauge "retry_limiter_running" "retry.limiter.running" "{attempt}",
        "Attempts in flight that a limiter admitted";
    Waiting Gauge "retry_limiter_waiting" "retry.limiter.waiting" "{attempt}",
        "Attempts waiting in a limiter's queue";
    Limit Gauge "retry_limiter_limit" "retry.limiter.limit" "{attempt}",
        "Most concurrent attempts that a limiter allows";
    Rate Gauge "retry_limiter_rate" "retry.limiter.rate" "{cost}/s",
        "Cost that a limiter admits per second";
}

/// A label's key, as in OpenTelemetry, and its value.
pub(super) type Label<'a> = (&'static str, &'a str);

/// The instruments of a metrics library.
pub trait Instruments {
    /// Records a value. A counter adds 1 instead.
    #[doc(hidden)]
    fn measure(&self, what: Measured, value: f64, labels: &[Label<'_>]);
}

/// An observer that records metrics of calls, and of the shared protections added to it. [`Metrics`](super::Metrics)
/// and [`OpenTelemetry`](super::OpenTelemetry) list the measurements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measurements<'a, I> {
    instruments: I,
    shared: Gauges<'a>,
}

impl<'a, I> Measurements<'a, I> {
    pub(super) const fn from_instruments(instruments: I) -> Self {
        let shared = Gauges([None; 16]);
        Self {
            instruments,
            shared,
        }
    }

    /// Adds a gauge of the tokens left in the budget, under this name. The gauge is set at each event of a call that
    /// uses this observer.
    #[must_use]
    pub const fn budget(mut self, name: &'a str, budget: &'a Budget) -> Self {
        self.shared = self.shared.with_gauge(name, Shared::Budget(budget));
        self
    }

    /// Adds a gauge of the breaker's state, under this name. The gauge is set at each event of a call that uses this
    /// observer. Your own type of breaker reports its state by [`state`](retry_runtime::seam::AdmissionControl::state).
    ///
    /// To measure one of several breakers, for example in a `Keyed`, look it up in a closure:
    ///
    /// ```
    /// use retry_observers::Metrics;
    /// use retry_protections::{Breaker, Keyed};
    /// use retry_runtime::{Observer, retry};
    ///
    /// struct Client {
    ///     breakers: Keyed<String, Breaker>,
    /// }
    ///
    /// impl Client {
    ///     #[retry(
    ///         breaker = self.breakers.of(host),
    ///         observe = |event| {
    ///             Metrics::new().breaker(host, &self.breakers.of(host)).observe(event)
    ///         }
    ///     )]
    ///     async fn get(&self, host: &str) -> std::io::Result<String> {
    ///         Ok(format!("hello from {host}"))
    ///     }
    /// }
    /// ```
    #[must_use]
    pub const fn breaker(mut self, name: &'a str, breaker: Protection<'a>) -> Self {
        self.shared = self.shared.with_gauge(name, Shared::Breaker(breaker));
        self
    }

    /// Adds gauges of the limiter's load, under this name, from its
    /// [`state`](retry_runtime::seam::AdmissionControl::state). The gauges are set at each event of a call that uses
    /// this observer.
    #[must_use]
    pub const fn limiter(mut self, name: &'a str, limiter: Protection<'a>) -> Self {
        self.shared = self.shared.with_gauge(name, Shared::Limiter(limiter));
        self
    }
}

impl<I: Instruments> Observer for Measurements<'_, I> {
    fn observe(&self, event: &Event<'_>) {
        let to = &self.instruments;
        let name = ("retry.name", event.call);
        let took = |what, time: Option<Duration>, labels: &[Label<'_>]| {
            if let Some(time) = time {
                to.measure(what, time.as_secs_f64(), labels);
            }
        };
        if let Some(end) = event.attempt_end() {
            let labels = [name, ("retry.kind", kind_of(end))];
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
            let outcome = ("retry.outcome", outcome_of(end));
            let retried = ("retry.retried", if attempts > 1 { "true" } else { "false" });
            to.measure(Measured::Calls, 1.0, &[name, outcome, retried]);
            took(Measured::CallDuration, event.elapsed(), &[name, outcome]);
            // Without this check, a call that was rejected before its first attempt would lower the mean.
            if attempts > 0 {
                to.measure(Measured::AttemptsPerCall, attempts.into(), &[name]);
            }
        }
        self.shared.measure(to);
    }
}

/// The shared protections that an observer measures, with their names. An array of fixed length, so that a constant can
/// contain it.
#[derive(Clone, Copy, Default)]
struct Gauges<'a>([Option<(&'a str, Shared<'a>)>; 16]);

type Protection<'a> = &'a (dyn AdmissionControl + Sync);

#[derive(Clone, Copy)]
enum Shared<'a> {
    Budget(&'a Budget),
    Breaker(Protection<'a>),
    Limiter(Protection<'a>),
}

impl<'a> Gauges<'a> {
    const fn with_gauge(mut self, name: &'a str, shared: Shared<'a>) -> Self {
        let mut at = 0;
        while self.0[at].is_some() {
            at += 1;
            assert!(
                at < self.0.len(),
                "an observer shows at most 16 budgets, breakers and limiters"
            );
        }
        self.0[at] = Some((name, shared));
        self
    }

    fn measure(&self, to: &impl Instruments) {
        for (name, shared) in self.0.iter().flatten() {
            let show = |what, key, value: Option<f64>| {
                if let Some(value) = value {
                    to.measure(what, value, &[(key, name)]);
                }
            };
            match shared {
                Shared::Budget(budget) => {
                    show(Measured::Budget, "retry.budget", Some(budget.available()));
                }
                Shared::Breaker(breaker) => {
                    // A higher number is worse.
                    let state = match breaker.state().circuit {
                        None if !breaker.is_open() => 0.0,
                        Some(BreakerState::Closed | BreakerState::ForcedClosed) => 0.0,
                        Some(BreakerState::HalfOpen) => 1.0,
                        _ => 2.0,
                    };
                    show(Measured::Breaker, "retry.breaker", Some(state));
                }
                Shared::Limiter(limiter) => {
                    let (key, state) = ("retry.limiter", limiter.state());
                    let whole = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
                    show(Measured::Running, key, state.running.map(whole));
                    let waiting = state.waiting.map(|waiting| whole(waiting as u64));
                    show(Measured::Waiting, key, waiting);
                    show(Measured::Limit, key, state.limit.map(f64::from));
                    show(Measured::Rate, key, state.rate);
                }
            }
        }
    }
}

/// Prints only the names, because a breaker or a limiter may not implement [`Debug`](fmt::Debug).
impl fmt::Debug for Gauges<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().flatten().map(|(name, _)| name);
        f.debug_list().entries(names).finish()
    }
}

fn kind_of(end: AttemptEnd) -> &'static str {
    match end {
        AttemptEnd::Succeeded => "succeeded",
        AttemptEnd::Failed(kind) => kind.name(),
        // `Stop` is the only other end.
        _ => "stop",
    }
}

fn outcome_of(end: CallEnd) -> &'static str {
    match end {
        CallEnd::Succeeded => "succeeded",
        CallEnd::FellBack => "fell back",
        CallEnd::GaveUp(reason) => reason.name(),
    }
}
