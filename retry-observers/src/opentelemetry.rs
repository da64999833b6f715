use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter};
use retry_runtime::macro_support::shown;

use crate::figures::{FIGURES, Figure, Instruments, Label, Measured, Measurements, SECONDS, Sort};

/// Records metrics of calls with OpenTelemetry: an observer for the key `observe`, with the feature `opentelemetry`.
///
/// | instrument | unit | attributes | |
/// |---|---|---|---|
/// | `retry.calls` | `{call}` | `retry.name`, `retry.outcome`, `retry.retried` | calls that ended: `succeeded`, `fell back`, or the [`Reason`](retry_runtime::Reason) for giving up; and whether they made more than one attempt |
/// | `retry.attempts` | `{attempt}` | `retry.name`, `retry.kind` | attempts and corrections that ended: `succeeded`, `stop`, or the [`Kind`](retry_runtime::Kind) of failure |
/// | `retry.attempt.duration` | `s` | `retry.name`, `retry.kind` | a histogram of the durations of attempts |
/// | `retry.call.duration` | `s` | `retry.name`, `retry.outcome` | a histogram of the durations of calls, including their pauses and waits |
/// | `retry.delay` | `s` | `retry.name` | a histogram of the pauses |
/// | `retry.attempts_per_call` | `{attempt}` | `retry.name` | a histogram of the number of attempts per call, without calls that made none |
/// | `retry.wait` | `s` | `retry.name` | a histogram of the waits until a limiter admitted an attempt, without attempts that didn't wait or were never admitted |
/// | `retry.breaker.openings` | `{opening}` | `retry.name` | the number of times that an attempt of the call opened its breaker, for any type of breaker |
/// | `retry.breaker.state` | `1` | `retry.breaker` | 0 closed, 1 half open, 2 open: the state of the breaker passed to [`breaker`](super::Measurements::breaker) |
/// | `retry.budget.available` | `{token}` | `retry.budget` | the tokens left in the budget passed to [`budget`](super::Measurements::budget) |
/// | `retry.limiter.running`, `.waiting`, `.limit` | `{attempt}` | `retry.limiter` | attempts in flight, attempts waiting, and the most concurrent attempts, if the limiter passed to [`limiter`](super::Measurements::limiter) reports them |
/// | `retry.limiter.rate` | `{cost}/s` | `retry.limiter` | the cost that the limiter admits per second, if it has a rate; infinite without a limit |
///
/// The measurements are those of [`Metrics`](super::Metrics), under names in OpenTelemetry's style. Histograms have
/// buckets for seconds and for attempts.
///
/// ```
/// use std::sync::LazyLock;
/// use retry_observers::OpenTelemetry;
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
/// An observer measures up to 16 budgets, breakers and limiters; adding one more panics.
///
/// OpenTelemetry's attribute for the attempts before an HTTP request is `http.request.resend_count`. From the second
/// attempt on, set it on the request's span:
/// `KeyValue::new("http.request.resend_count", i64::from(attempt.number()) - 1)`.
pub type OpenTelemetry<'a> = Measurements<'a, Metered>;

/// The instruments of a meter.
#[derive(Clone, Debug)]
pub struct Metered([Instrument; FIGURES.len()]);

#[derive(Clone, Debug)]
enum Instrument {
    Counter(Counter<u64>),
    Histogram(Histogram<f64>),
    Gauge(Gauge<f64>),
}

/// The histograms' bucket limits, unless the program sets others with a view. The SDK's default limits are for
/// milliseconds.
const BUCKETS_OF_SECONDS: [f64; 10] = [0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0];
const BUCKETS_OF_ATTEMPTS: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 6.0, 11.0];

impl OpenTelemetry<'static> {
    /// Creates an observer that records with this meter.
    pub fn new(meter: &Meter) -> Self {
        let instrument = |figure: Figure| {
            let Figure { unit, help, .. } = figure;
            macro_rules! build {
                ($builder:expr) => {
                    $builder.with_unit(unit).with_description(help).build()
                };
            }
            let name = figure.instrument;
            match figure.sort {
                Sort::Counter => Instrument::Counter(build!(meter.u64_counter(name))),
                Sort::Gauge => Instrument::Gauge(build!(meter.f64_gauge(name))),
                Sort::Histogram => {
                    let buckets = match unit {
                        SECONDS => BUCKETS_OF_SECONDS.to_vec(),
                        _ => BUCKETS_OF_ATTEMPTS.to_vec(),
                    };
                    let histogram = meter.f64_histogram(name).with_boundaries(buckets);
                    Instrument::Histogram(build!(histogram))
                }
            }
        };
        Self::from_instruments(Metered(FIGURES.map(instrument)))
    }
}

impl Instruments for Metered {
    fn measure(&self, what: Measured, value: f64, labels: &[Label<'_>]) {
        let attributes = attributes(labels);
        match &self.0[what as usize] {
            Instrument::Counter(counter) => counter.add(1, &attributes),
            Instrument::Histogram(histogram) => histogram.record(value, &attributes),
            Instrument::Gauge(gauge) => gauge.record(value, &attributes),
        }
    }
}

fn attributes(labels: &[Label<'_>]) -> Vec<KeyValue> {
    let attributes = labels.iter();
    let attributes = attributes.map(|(key, value)| KeyValue::new(*key, shown(value).to_string()));
    attributes.collect()
}
