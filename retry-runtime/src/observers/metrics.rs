use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use super::figures::{self, End, Figures};
use crate::budget::bucket::Budget;
use crate::observe::event::Event;
use crate::observe::observer::Observer;
use crate::observe::shown::shown;

/// Measures calls with the crate `metrics`: an observer for the key `observe`, with the feature `metrics`.
///
/// | metric | labels | |
/// |---|---|---|
/// | `retry_calls_total` | `name`, `outcome` | calls that ended: `succeeded`, `fell back`, or the [`Reason`](crate::Reason) of giving up |
/// | `retry_attempts_total` | `name`, `kind` | attempts and corrections that ended: `succeeded`, `stop`, or the [`Kind`](crate::Kind) of failure |
/// | `retry_delay_seconds` | `name` | a histogram of the pauses |
/// | `retry_attempts_per_call` | `name` | a histogram of how many attempts calls made |
/// | `retry_breaker_state` | `name` | 0 closed, 1 half open, 2 open; from the first time it opens |
/// | `retry_budget_available` | `name` | the tokens of the budget that [`budget`](Self::budget) names |
///
/// `name` is the call's name. The words are those of the log.
///
/// ```
/// use retry_runtime::observers::Metrics;
/// use retry_runtime::{Budget, retry};
///
/// static BUDGET: Budget = Budget::standard();
///
/// struct Client;
///
/// #[retry(budget = &BUDGET, observe = Metrics::new().budget(&BUDGET))]
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
/// If no recorder is installed, it measures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metrics<'a> {
    budget: Option<&'a Budget>,
}

const CALLS: &str = "retry_calls_total";
const ATTEMPTS: &str = "retry_attempts_total";
const DELAY: &str = "retry_delay_seconds";
const ATTEMPTS_PER_CALL: &str = "retry_attempts_per_call";
const BUDGET: &str = "retry_budget_available";
const BREAKER: &str = "retry_breaker_state";

impl Metrics<'static> {
    /// Measures with the recorder that the program has installed.
    pub const fn new() -> Self {
        Self { budget: None }
    }

    /// Tells the recorder what each metric is about, and its unit. Call it once, after you have installed the recorder.
    pub fn describe() {
        describe_counter!(CALLS, Unit::Count, figures::CALLS);
        describe_counter!(ATTEMPTS, Unit::Count, figures::ATTEMPTS);
        describe_histogram!(DELAY, Unit::Seconds, figures::DELAY);
        describe_histogram!(ATTEMPTS_PER_CALL, Unit::Count, figures::ATTEMPTS_PER_CALL);
        describe_gauge!(BUDGET, Unit::Count, figures::BUDGET);
        describe_gauge!(BREAKER, Unit::Count, figures::BREAKER);
    }
}

impl<'a> Metrics<'a> {
    /// Shows what is left of that budget whenever a call that names this observer fails or ends.
    #[must_use]
    pub const fn budget(self, budget: &'a Budget) -> Self {
        Self {
            budget: Some(budget),
        }
    }
}

impl Observer for Metrics<'_> {
    fn observe(&self, event: &Event<'_>) {
        let figures = Figures::of(event);
        if figures.is_empty() {
            return;
        }
        let name = shown(event.call()).to_string();
        let Figures {
            attempt,
            pause,
            end,
            breaker,
        } = figures;
        if let Some(attempt) = attempt {
            counter!(ATTEMPTS, "name" => name.clone(), "kind" => attempt.name()).increment(1);
        }
        if let Some(pause) = pause {
            histogram!(DELAY, "name" => name.clone()).record(pause.as_secs_f64());
        }
        if let Some(End { attempts, outcome }) = end {
            counter!(CALLS, "name" => name.clone(), "outcome" => outcome.name()).increment(1);
            histogram!(ATTEMPTS_PER_CALL, "name" => name.clone()).record(f64::from(attempts));
        }
        if let Some(state) = breaker {
            gauge!(BREAKER, "name" => name.clone()).set(figures::number_of(state));
        }
        if let Some(budget) = self.budget {
            gauge!(BUDGET, "name" => name).set(budget.available());
        }
    }
}
