use ::metrics::{
    Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use super::figures::{
    self, FIGURES, Figure, Gauged, Instruments, Measured, SECONDS, Shared, Sort, Value, measure,
};
use crate::admission::AdmissionControl;
use crate::budget::bucket::Budget;
use crate::error_text::shown::shown;
use crate::observe::{Event, Observer};

/// Measures calls with the crate `metrics`: an observer for the key `observe`, with the feature `metrics`.
///
/// | metric | labels | |
/// |---|---|---|
/// | `retry_calls_total` | `name`, `outcome`, `retried` | calls that ended: `succeeded`, `fell back`, or the [`Reason`](crate::Reason) of giving up; `retried` is `true` for those that made more than one attempt, else `false` |
/// | `retry_attempts_total` | `name`, `kind` | attempts and corrections that ended: `succeeded`, `stop`, or the [`Kind`](crate::Kind) of failure |
/// | `retry_attempt_duration_seconds` | `name`, `kind` | a histogram of how long attempts took |
/// | `retry_call_duration_seconds` | `name`, `outcome` | a histogram of how long calls took, with their pauses and waits |
/// | `retry_delay_seconds` | `name` | a histogram of the pauses |
/// | `retry_attempts_per_call` | `name` | a histogram of how many attempts calls made, without the calls that made none |
/// | `retry_wait_seconds` | `name` | a histogram of the waits that ended in a limiter's turn, without those that were over at once; not those that a deadline or a cancellation ended |
/// | `retry_breaker_openings_total` | `name` | how often an attempt of that call opened its breaker, whatever the breaker's type |
/// | `retry_breaker_state` | `breaker` | 0 closed, 1 half open, 2 open: the state of the breaker that [`breaker`](Self::breaker) names |
/// | `retry_budget_available` | `budget` | the tokens left in the budget that [`budget`](Self::budget) names |
/// | `retry_limiter_running`, `retry_limiter_waiting`, `retry_limiter_limit` | `limiter` | attempts that run, that wait, and the most that may run at a time, as far as the limiter that [`limiter`](Self::limiter) names knows them |
/// | `retry_limiter_rate` | `limiter` | how much cost that limiter lets begin per second, if it has a rate; infinite without a limit |
///
/// `name` is the call's name: each is a series of its own, so let none hold an id. A batch is one call. So is a plan, and
/// each of its subtasks another, named `plan.subtask`. The words are those of the log. What calls share has a name of its
/// own, since each of them changes it. A gauge is set at the events of calls that name this observer, so until the next one
/// it shows what was: a breaker whose time is over stays open in it.
///
/// ```
/// use retry_runtime::observers::Metrics;
/// use retry_runtime::{Breaker, Budget, retry};
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
/// If no recorder is installed, it measures nothing. It shows up to 16 budgets, breakers and limiters; naming one more
/// panics, in a `static` at compile time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metrics<'a> {
    shared: Gauged<'a>,
}

impl Metrics<'static> {
    /// Measures with the recorder that the program has installed.
    pub const fn new() -> Self {
        Self {
            shared: Gauged::NONE,
        }
    }

    /// Tells the recorder what each metric is about, and its unit. Call it once, after you have installed the recorder.
    pub fn describe() {
        for figure in FIGURES {
            let Figure { metric, about, .. } = figure;
            let unit = match figure.unit {
                SECONDS => Unit::Seconds,
                _ => Unit::Count,
            };
            match figure.sort {
                Sort::Counter => describe_counter!(metric, unit, about),
                Sort::Histogram => describe_histogram!(metric, unit, about),
                Sort::Gauge => describe_gauge!(metric, unit, about),
            }
        }
    }
}

impl<'a> Metrics<'a> {
    /// Shows under that name what is left of that budget, at each event of a call that names this observer.
    #[must_use]
    pub const fn budget(mut self, name: &'a str, budget: &'a Budget) -> Self {
        self.shared = self.shared.with(Shared::Budget(name, budget));
        self
    }

    /// Shows under that name the state of that breaker, at each event of a call that names this observer. One of your own
    /// type is shown by its [`state`](crate::AdmissionControl::state).
    ///
    /// To show one of several breakers, as in a [`Keyed`](crate::Keyed), look it up in a closure:
    ///
    /// ```
    /// use retry_runtime::observers::Metrics;
    /// use retry_runtime::{Breaker, Keyed, Observer, retry};
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
    pub const fn breaker(
        mut self,
        name: &'a str,
        breaker: &'a (dyn AdmissionControl + Sync),
    ) -> Self {
        self.shared = self.shared.with(Shared::Breaker(name, breaker));
        self
    }

    /// Shows under that name how full that limiter is, as its [`state`](crate::AdmissionControl::state) says, at each event of a
    /// call that names this observer.
    #[must_use]
    pub const fn limiter(
        mut self,
        name: &'a str,
        limiter: &'a (dyn AdmissionControl + Sync),
    ) -> Self {
        self.shared = self.shared.with(Shared::Limiter(name, limiter));
        self
    }
}

impl Observer for Metrics<'_> {
    fn observe(&self, event: &Event<'_>) {
        measure(event, &self.shared, &Recorder);
    }
}

/// The recorder that the program has installed.
struct Recorder;

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
        // Labels of Prometheus have no `retry.` before them, as those of OpenTelemetry have.
        let key = &key["retry.".len()..];
        match value {
            Value::Name(name) => Label::new(key, shown(name).to_string()),
            Value::Flag(true) => Label::from_static_parts(key, "true"),
            Value::Flag(false) => Label::from_static_parts(key, "false"),
        }
    });
    labels.collect()
}
