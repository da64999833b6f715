use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter};

use super::figures::{self, Gauged};
use crate::breaker::circuit::Breaker;
use crate::budget::bucket::Budget;
use crate::error_text::shown::shown;
use crate::observe::call_end::CallEnd;
use crate::observe::event::Event;
use crate::observe::observer::Observer;

/// Measures calls with OpenTelemetry: an observer for the key `observe`, with the feature `opentelemetry`.
///
/// | instrument | unit | attributes | |
/// |---|---|---|---|
/// | `retry.calls` | `{call}` | `retry.name`, `retry.outcome` | calls that ended: `succeeded`, `fell back`, or the [`Reason`](crate::Reason) of giving up |
/// | `retry.attempts` | `{attempt}` | `retry.name`, `retry.kind` | attempts and corrections that ended: `succeeded`, `stop`, or the [`Kind`](crate::Kind) of failure |
/// | `retry.delay` | `s` | `retry.name` | a histogram of the pauses |
/// | `retry.attempts_per_call` | `{attempt}` | `retry.name` | a histogram of how many attempts calls made |
/// | `retry.breaker.state` | `1` | `retry.breaker` | 0 closed, 1 half open, 2 open: the state of the breaker that [`breaker`](Self::breaker) names |
/// | `retry.budget.available` | `{token}` | `retry.budget` | the tokens left in the budget that [`budget`](Self::budget) names |
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
    breaker: Gauge<u64>,
    available: Gauge<f64>,
    shared: Gauged<'a>,
}

const NAME: &str = "retry.name";
/// The limits of the histograms' buckets, unless a view of the program's sets others: those of the SDK are for milliseconds.
const SECONDS: [f64; 10] = [0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0];
const ATTEMPTS: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 6.0, 11.0];

impl OpenTelemetry<'static> {
    /// Measures with instruments of that meter.
    pub fn new(meter: &Meter) -> Self {
        let calls = meter.u64_counter("retry.calls");
        let attempts = meter.u64_counter("retry.attempts");
        let delay = meter.f64_histogram("retry.delay");
        let attempts_per_call = meter.u64_histogram("retry.attempts_per_call");
        let breaker = meter.u64_gauge("retry.breaker.state");
        let available = meter.f64_gauge("retry.budget.available");
        Self {
            calls: calls
                .with_unit("{call}")
                .with_description(figures::CALLS)
                .build(),
            attempts: attempts
                .with_unit("{attempt}")
                .with_description(figures::ATTEMPTS)
                .build(),
            delay: delay
                .with_boundaries(SECONDS.to_vec())
                .with_unit("s")
                .with_description(figures::DELAY)
                .build(),
            attempts_per_call: attempts_per_call
                .with_boundaries(ATTEMPTS.to_vec())
                .with_unit("{attempt}")
                .with_description(figures::ATTEMPTS_PER_CALL)
                .build(),
            breaker: breaker
                .with_unit("1")
                .with_description(figures::BREAKER)
                .build(),
            available: available
                .with_unit("{token}")
                .with_description(figures::BUDGET)
                .build(),
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
    pub fn breaker(mut self, name: &'a str, breaker: &'a Breaker) -> Self {
        self.shared.breaker = Some((name, breaker));
        self
    }
}

impl Observer for OpenTelemetry<'_> {
    fn observe(&self, event: &Event<'_>) {
        let name = || KeyValue::new(NAME, shown(event.call).to_string());
        if let Some(kind) = figures::kind_of(event) {
            let kind = KeyValue::new("retry.kind", kind);
            self.attempts.add(1, &[name(), kind]);
        }
        if let Some(pause) = event.pause() {
            self.delay.record(pause.as_secs_f64(), &[name()]);
        }
        if let Some(CallEnd { attempts, outcome }) = event.call_end() {
            self.attempts_per_call.record(attempts.into(), &[name()]);
            let outcome = KeyValue::new("retry.outcome", outcome.name());
            self.calls.add(1, &[name(), outcome]);
        }
        let Gauged { budget, breaker } = self.shared;
        if let Some((name, budget)) = budget {
            let name = KeyValue::new("retry.budget", shown(name).to_string());
            self.available.record(budget.available(), &[name]);
        }
        if let Some((name, breaker)) = breaker {
            let name = KeyValue::new("retry.breaker", shown(name).to_string());
            let state = figures::number_of(breaker.state());
            self.breaker.record(state.into(), &[name]);
        }
    }
}
