use core::slice;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter};

use super::figures::{self, End, Figures};
use crate::budget::bucket::Budget;
use crate::observe::event::Event;
use crate::observe::observer::Observer;
use crate::observe::shown::shown;

/// Measures calls with OpenTelemetry: an observer for the key `observe`, with the feature `opentelemetry`.
///
/// | instrument | unit | attributes | |
/// |---|---|---|---|
/// | `retry.calls` | `{call}` | `retry.name`, `retry.outcome` | calls that ended: `succeeded`, `fell back`, or the [`Reason`](crate::Reason) of giving up |
/// | `retry.attempts` | `{attempt}` | `retry.name`, `retry.kind` | attempts and corrections that ended: `succeeded`, `stop`, or the [`Kind`](crate::Kind) of failure |
/// | `retry.delay` | `s` | `retry.name` | a histogram of the pauses |
/// | `retry.attempts_per_call` | `{attempt}` | `retry.name` | a histogram of how many attempts calls made |
/// | `retry.breaker.state` | `1` | `retry.name` | 0 closed, 1 half open, 2 open; from the first time it opens |
/// | `retry.budget.available` | `{token}` | `retry.name` | the tokens of the budget that [`budget`](Self::budget) names |
///
/// They are those of [`Metrics`](super::Metrics), under names in OpenTelemetry's style.
///
/// ```
/// use std::sync::LazyLock;
/// use retry_runtime::observers::OpenTelemetry;
/// use retry_runtime::retry;
///
/// static OBSERVER: LazyLock<OpenTelemetry> =
///     LazyLock::new(|| OpenTelemetry::new(&opentelemetry::global::meter("my-service")));
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
    budget: Option<&'a Budget>,
}

const NAME: &str = "retry.name";

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
                .with_unit("s")
                .with_description(figures::DELAY)
                .build(),
            attempts_per_call: attempts_per_call
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
            budget: None,
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

impl OpenTelemetry<'_> {
    /// Shows what is left of that budget whenever a call that names this observer fails or ends.
    #[must_use]
    pub fn budget(self, budget: &Budget) -> OpenTelemetry<'_> {
        OpenTelemetry {
            budget: Some(budget),
            ..self
        }
    }
}

impl Observer for OpenTelemetry<'_> {
    fn observe(&self, event: &Event<'_>) {
        let figures = Figures::of(event);
        if figures.is_empty() {
            return;
        }
        let name = KeyValue::new(NAME, shown(event.call()).to_string());
        let named = slice::from_ref(&name);
        if let Some(attempt) = figures.attempt {
            let kind = KeyValue::new("retry.kind", attempt.name());
            self.attempts.add(1, &[name.clone(), kind]);
        }
        if let Some(pause) = figures.pause {
            self.delay.record(pause.as_secs_f64(), named);
        }
        if let Some(End { attempts, outcome }) = figures.end {
            self.attempts_per_call.record(attempts.into(), named);
            let outcome = KeyValue::new("retry.outcome", outcome.name());
            self.calls.add(1, &[name.clone(), outcome]);
        }
        if let Some(state) = figures.breaker {
            self.breaker.record(figures::number_of(state).into(), named);
        }
        if let Some(budget) = self.budget {
            self.available.record(budget.available(), named);
        }
    }
}
