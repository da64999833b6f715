use ::metrics::{
    Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use retry_runtime::macro_support::shown;

use crate::figures::{self, FIGURES, Figure, Instruments, Measured, Measurements, SECONDS, Sort};

/// Records metrics of calls with the crate `metrics`: an observer for the key `observe`, with the feature `metrics`.
///
/// | metric | labels | |
/// |---|---|---|
/// | `retry_calls_total` | `name`, `outcome`, `retried` | calls that ended: `succeeded`, `fell back`, or the [`Reason`](retry_runtime::Reason) for giving up; `retried` is `true` for those that made more than one attempt, otherwise `false` |
/// | `retry_attempts_total` | `name`, `kind` | attempts and corrections that ended: `succeeded`, `stop`, or the [`Kind`](retry_runtime::Kind) of failure |
/// | `retry_attempt_duration_seconds` | `name`, `kind` | a histogram of the durations of attempts |
/// | `retry_call_duration_seconds` | `name`, `outcome` | a histogram of the durations of calls, including their pauses and waits |
/// | `retry_delay_seconds` | `name` | a histogram of the pauses |
/// | `retry_attempts_per_call` | `name` | a histogram of the number of attempts per call, without calls that made none |
/// | `retry_wait_seconds` | `name` | a histogram of the waits until a limiter admitted an attempt, without attempts that didn't wait or were never admitted |
/// | `retry_breaker_openings_total` | `name` | the number of times that an attempt of the call opened its breaker, for any type of breaker |
/// | `retry_breaker_state` | `breaker` | 0 closed, 1 half open, 2 open: the state of the breaker passed to [`breaker`](super::Measurements::breaker) |
/// | `retry_budget_available` | `budget` | the tokens left in the budget passed to [`budget`](super::Measurements::budget) |
/// | `retry_limiter_running`, `retry_limiter_waiting`, `retry_limiter_limit` | `limiter` | attempts in flight, attempts waiting, and the most concurrent attempts, if the limiter passed to [`limiter`](super::Measurements::limiter) reports them |
/// | `retry_limiter_rate` | `limiter` | the cost that the limiter admits per second, if it has a rate; infinite without a limit |
///
/// `name` is the call's name. Each name is a separate time series, so names must not contain ids. A batch is one call.
/// A plan is one call, and each of its subtasks is another, named `plan.subtask`. Outcomes and kinds are the same words
/// as in the log. Shared protections have their own names, because several calls use them. A gauge is set at the events
/// of calls that use this observer, so it may be out of date until the next event: for example, a breaker whose open
/// time is over still shows as open.
///
/// ```
/// use retry_observers::Metrics;
/// use retry_protections::Breaker;
/// use retry_runtime::{Budget, retry};
///
/// static BUDGET: Budget = Budget::standard();
/// static BREAKER: Breaker = Breaker::new();
/// static METRICS: Metrics<'_> =
///     Metrics::new().budget("model", &BUDGET).breaker("model", &BREAKER);
///
/// struct Client;
///
/// #[retry(budget = &BUDGET, breaker = &BREAKER, observe = &METRICS)]
/// impl Client {
///     fn models(&self) -> std::io::Result<String> {
///         Ok(String::from("one"))
///     }
/// }
///
/// Metrics::describe();
/// assert!(Client.models().is_ok());
/// ```
///
/// If no recorder is installed, nothing is recorded. An observer measures up to 16 budgets, breakers and limiters;
/// adding one more panics, in a `static` at compile time.
pub type Metrics<'a> = Measurements<'a, Recorder>;

impl Metrics<'static> {
    /// Creates an observer that uses the recorder that the program has installed.
    pub const fn new() -> Self {
        Self::from_instruments(Recorder)
    }

    /// Passes the description and the unit of each metric to the recorder. Call it once, after you have installed the
    /// recorder.
    pub fn describe() {
        for figure in FIGURES {
            let Figure { metric, help, .. } = figure;
            let unit = match figure.unit {
                SECONDS => Unit::Seconds,
                _ => Unit::Count,
            };
            match figure.sort {
                Sort::Counter => describe_counter!(metric, unit, help),
                Sort::Histogram => describe_histogram!(metric, unit, help),
                Sort::Gauge => describe_gauge!(metric, unit, help),
            }
        }
    }
}

/// The recorder that the program has installed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorder;

impl Instruments for Recorder {
    fn measure(&self, what: Measured, value: f64, of: &[figures::Label<'_>]) {
        let (Figure { sort, metric, .. }, labels) = (FIGURES[what as usize], labels(of));
        match sort {
            Sort::Counter => counter!(metric, labels).increment(1),
            Sort::Histogram => histogram!(metric, labels).record(value),
            Sort::Gauge => gauge!(metric, labels).set(value),
        }
    }
}

fn labels(labels: &[figures::Label<'_>]) -> Vec<Label> {
    let labels = labels.iter().map(|(key, value)| {
        // Prometheus labels don't have the prefix `retry.`; OpenTelemetry attributes do.
        Label::new(&key["retry.".len()..], shown(value).to_string())
    });
    labels.collect()
}
