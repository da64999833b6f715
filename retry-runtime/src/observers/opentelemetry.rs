use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter};

use super::figures::{self, Gauged};
use crate::breaker::circuit_breaker::CircuitBreaker;
use crate::budget::bucket::Budget;
use crate::error_text::shown::shown;
use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
use crate::observe::call_end::CallEnd;
use crate::observe::event::{Event, EventData};
use crate::observe::observer::Observer;

/// Measures calls with OpenTelemetry: an observer for the key `observe`, with the feature `opentelemetry`.
///
/// | instrument | unit | attributes | |
/// |---|---|---|---|
/// | `retry.calls` | `{call}` | `retry.name`, `retry.outcome`, `retry.retried` | calls that ended: `succeeded`, `fell back`, or the [`Reason`](crate::Reason) of giving up; and whether they made more than one attempt |
/// | `retry.attempts` | `{attempt}` | `retry.name`, `retry.kind` | attempts and corrections that ended: `succeeded`, `stop`, or the [`Kind`](crate::Kind) of failure |
/// | `retry.attempt.duration` | `s` | `retry.name`, `retry.kind` | a histogram of how long attempts took |
/// | `retry.call.duration` | `s` | `retry.name`, `retry.outcome` | a histogram of how long calls took, with their pauses and waits |
/// | `retry.delay` | `s` | `retry.name` | a histogram of the pauses |
/// | `retry.attempts_per_call` | `{attempt}` | `retry.name` | a histogram of how many attempts calls made |
/// | `retry.wait` | `s` | `retry.name` | a histogram of the waits that ended in a limiter's turn, without those that were over at once; not those that a deadline or a cancellation ended |
/// | `retry.breaker.openings` | `{opening}` | `retry.name` | how often an attempt of that call opened its breaker, whatever the breaker's type |
/// | `retry.breaker.state` | `1` | `retry.breaker` | 0 closed, 1 half open, 2 open: the state of the breaker that [`breaker`](Self::breaker) names |
/// | `retry.budget.available` | `{token}` | `retry.budget` | the tokens left in the budget that [`budget`](Self::budget) names |
/// | `retry.limiter.running`, `.waiting`, `.limit` | `{attempt}` | `retry.limiter` | attempts that run, that wait, and how many may run at a time, with the limiter that [`limiter`](Self::limiter) names |
///
/// The measurements are those of [`Metrics`](super::Metrics), under names in OpenTelemetry's style. Histograms have buckets for seconds
/// and for attempts.
///
/// ```
/// use std::sync::LazyLock;
/// use retry_runtime::observers::OpenTelemetry;
/// use retry_runtime::retry;
///
/// static OBSERVER: LazyLock<OpenTelemetry> = LazyLock::new(|| {
///     OpenTelemetry::new(&opentelemetry::global::meter("my-service"))
/// });
///
/// #[retry(observe = &*OBSERVER)]
/// fn fetch() -> std::io::Result<()> {
///     Ok(())
/// }
/// assert!(fetch().is_ok());
/// ```
///
/// A span of an HTTP request counts the attempts before it as `http.request.resend_count`:
/// [`resend_count`](Self::resend_count).
#[derive(Clone, Debug)]
pub struct OpenTelemetry<'a> {
    calls: Counter<u64>,
    attempts: Counter<u64>,
    delay: Histogram<f64>,
    attempts_per_call: Histogram<u64>,
    attempt_duration: Histogram<f64>,
    call_duration: Histogram<f64>,
    wait: Histogram<f64>,
    openings: Counter<u64>,
    breaker: Gauge<u64>,
    available: Gauge<f64>,
    running: Gauge<u64>,
    waiting: Gauge<u64>,
    limit: Gauge<u64>,
    shared: Gauged<'a>,
}

const NAME: &str = "retry.name";
const ATTEMPT: &str = "{attempt}";
/// The limits of the histograms' buckets, unless a view of the program's sets others: those of the SDK are for milliseconds.
const SECONDS: [f64; 10] = [0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0];
const ATTEMPTS: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 6.0, 11.0];

impl OpenTelemetry<'static> {
    /// Measures with instruments of that meter.
    pub fn new(meter: &Meter) -> Self {
        let counter = |name, unit, description| {
            let counter = meter.u64_counter(name);
            counter
                .with_unit(unit)
                .with_description(description)
                .build()
        };
        let gauge = |name, unit, description| {
            let gauge = meter.u64_gauge(name);
            gauge.with_unit(unit).with_description(description).build()
        };
        let seconds = |name, description| {
            let seconds = meter.f64_histogram(name).with_boundaries(SECONDS.to_vec());
            seconds.with_unit("s").with_description(description).build()
        };
        let attempts_per_call = meter.u64_histogram("retry.attempts_per_call");
        let available = meter.f64_gauge("retry.budget.available");
        Self {
            calls: counter("retry.calls", "{call}", figures::CALLS),
            attempts: counter("retry.attempts", ATTEMPT, figures::ATTEMPTS),
            delay: seconds("retry.delay", figures::DELAY),
            attempts_per_call: attempts_per_call
                .with_boundaries(ATTEMPTS.to_vec())
                .with_unit(ATTEMPT)
                .with_description(figures::ATTEMPTS_PER_CALL)
                .build(),
            attempt_duration: seconds("retry.attempt.duration", figures::ATTEMPT_DURATION),
            call_duration: seconds("retry.call.duration", figures::CALL_DURATION),
            wait: seconds("retry.wait", figures::WAIT),
            openings: counter("retry.breaker.openings", "{opening}", figures::OPENINGS),
            breaker: gauge("retry.breaker.state", "1", figures::BREAKER),
            available: available
                .with_unit("{token}")
                .with_description(figures::BUDGET)
                .build(),
            running: gauge("retry.limiter.running", ATTEMPT, figures::RUNNING),
            waiting: gauge("retry.limiter.waiting", ATTEMPT, figures::WAITING),
            limit: gauge("retry.limiter.limit", ATTEMPT, figures::LIMIT),
            shared: Gauged::default(),
        }
    }

    /// The attribute `http.request.resend_count` for the span of an HTTP request that the attempt of that number makes.
    /// The first attempt has none.
    ///
    /// ```
    /// use retry_runtime::observers::OpenTelemetry;
    ///
    /// assert_eq!(OpenTelemetry::resend_count(1), None);
    /// let attribute = OpenTelemetry::resend_count(3).unwrap();
    /// assert_eq!(attribute.key.as_str(), "http.request.resend_count");
    /// assert_eq!(attribute.value, 2.into());
    /// ```
    ///
    /// The name is that of OpenTelemetry's semantic conventions for HTTP.
    pub fn resend_count(attempt: u32) -> Option<KeyValue> {
        let before = i64::from(attempt)
            .checked_sub(1)
            .filter(|before| *before > 0)?;
        Some(KeyValue::new("http.request.resend_count", before))
    }
}

impl<'a> OpenTelemetry<'a> {
    /// Shows under that name what is left of that budget, at each event of a call that names this observer.
    #[must_use]
    pub fn budget(mut self, name: &'a str, budget: &'a Budget) -> Self {
        self.shared.budget = Some((name, budget));
        self
    }

    /// Shows under that name the state of that breaker, at each event of a call that names this observer. To show one of
    /// several, name it on a clone, in a closure: see [`Metrics::breaker`](super::Metrics::breaker).
    #[must_use]
    pub fn breaker(mut self, name: &'a str, breaker: &'a (dyn CircuitBreaker + Sync)) -> Self {
        self.shared.breaker = Some((name, breaker));
        self
    }

    /// Shows under that name how full that limiter is, at each event of a call that names this observer.
    #[must_use]
    pub fn limiter(mut self, name: &'a str, limiter: &'a ConcurrencyLimiter) -> Self {
        self.shared.limiter = Some((name, limiter));
        self
    }

    /// Measures the budget, the breaker and the limiter.
    fn gauge(&self) {
        let named = |key, name| [KeyValue::new(key, shown(name).to_string())];
        if let Some((name, budget)) = self.shared.budget {
            let name = named("retry.budget", name);
            self.available.record(budget.available(), &name);
        }
        if let Some((name, breaker)) = self.shared.breaker {
            let state = figures::number_of(breaker.state());
            let name = named("retry.breaker", name);
            self.breaker.record(state.into(), &name);
        }
        if let Some((name, limiter)) = self.shared.limiter {
            let name = named("retry.limiter", name);
            self.running.record(limiter.running(), &name);
            self.waiting.record(limiter.waiting() as u64, &name);
            self.limit.record(limiter.limit().into(), &name);
        }
    }
}

impl Observer for OpenTelemetry<'_> {
    fn observe(&self, event: &Event<'_>) {
        // Asked for at each event, so that the time is known of each end.
        let (elapsed, attempt_elapsed) = (event.elapsed(), event.attempt_elapsed());
        let name = || KeyValue::new(NAME, shown(event.call).to_string());
        if let Some(end) = event.attempt_end() {
            let labels = [name(), KeyValue::new("retry.kind", end.name())];
            self.attempts.add(1, &labels);
            if let Some(took) = attempt_elapsed {
                self.attempt_duration.record(took.as_secs_f64(), &labels);
            }
        }
        if let Some(pause) = event.pause() {
            self.delay.record(pause.as_secs_f64(), &[name()]);
        }
        if let Some(CallEnd { attempts, outcome }) = event.call_end() {
            self.attempts_per_call.record(attempts.into(), &[name()]);
            let outcome = KeyValue::new("retry.outcome", outcome.name());
            let retried = KeyValue::new("retry.retried", attempts > 1);
            self.calls.add(1, &[name(), outcome.clone(), retried]);
            if let Some(took) = elapsed {
                self.call_duration
                    .record(took.as_secs_f64(), &[name(), outcome]);
            }
        }
        match event.data {
            EventData::Waited { waited } => self.wait.record(waited.as_secs_f64(), &[name()]),
            EventData::BreakerOpened { .. } => self.openings.add(1, &[name()]),
            _ => {}
        }
        self.gauge();
    }
}
