use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use super::figures::{self, Gauged};
use crate::breaker::circuit_breaker::CircuitBreaker;
use crate::budget::bucket::Budget;
use crate::error_text::shown::shown;
use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
use crate::observe::call_end::CallEnd;
use crate::observe::event::{Event, EventData};
use crate::observe::observer::Observer;

/// Measures calls with the crate `metrics`: an observer for the key `observe`, with the feature `metrics`.
///
/// | metric | labels | |
/// |---|---|---|
/// | `retry_calls_total` | `name`, `outcome`, `retried` | calls that ended: `succeeded`, `fell back`, or the [`Reason`](crate::Reason) of giving up; `retried` is `true` for those that made more than one attempt, else `false` |
/// | `retry_attempts_total` | `name`, `kind` | attempts and corrections that ended: `succeeded`, `stop`, or the [`Kind`](crate::Kind) of failure |
/// | `retry_attempt_duration_seconds` | `name`, `kind` | a histogram of how long attempts took |
/// | `retry_call_duration_seconds` | `name`, `outcome` | a histogram of how long calls took, with their pauses and waits |
/// | `retry_delay_seconds` | `name` | a histogram of the pauses |
/// | `retry_attempts_per_call` | `name` | a histogram of how many attempts calls made |
/// | `retry_wait_seconds` | `name` | a histogram of the waits that ended in a limiter's turn, without those that were over at once; not those that a deadline or a cancellation ended |
/// | `retry_breaker_openings_total` | `name` | how often an attempt of that call opened its breaker, whatever the breaker's type |
/// | `retry_breaker_state` | `breaker` | 0 closed, 1 half open, 2 open: the state of the breaker that [`breaker`](Self::breaker) names |
/// | `retry_budget_available` | `budget` | the tokens left in the budget that [`budget`](Self::budget) names |
/// | `retry_limiter_running`, `retry_limiter_waiting`, `retry_limiter_limit` | `limiter` | attempts that run, that wait, and how many may run at a time, with the limiter that [`limiter`](Self::limiter) names |
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
/// If no recorder is installed, it measures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metrics<'a> {
    shared: Gauged<'a>,
}

const CALLS: &str = "retry_calls_total";
const ATTEMPTS: &str = "retry_attempts_total";
const DELAY: &str = "retry_delay_seconds";
const ATTEMPTS_PER_CALL: &str = "retry_attempts_per_call";
const ATTEMPT_DURATION: &str = "retry_attempt_duration_seconds";
const CALL_DURATION: &str = "retry_call_duration_seconds";
const WAIT: &str = "retry_wait_seconds";
const OPENINGS: &str = "retry_breaker_openings_total";
const BUDGET: &str = "retry_budget_available";
const BREAKER: &str = "retry_breaker_state";
const RUNNING: &str = "retry_limiter_running";
const WAITING: &str = "retry_limiter_waiting";
const LIMIT: &str = "retry_limiter_limit";

impl Metrics<'static> {
    /// Measures with the recorder that the program has installed.
    pub const fn new() -> Self {
        Self {
            shared: Gauged {
                budget: None,
                breaker: None,
                limiter: None,
            },
        }
    }

    /// Tells the recorder what each metric is about, and its unit. Call it once, after you have installed the recorder.
    pub fn describe() {
        describe_counter!(CALLS, Unit::Count, figures::CALLS);
        describe_counter!(ATTEMPTS, Unit::Count, figures::ATTEMPTS);
        describe_histogram!(DELAY, Unit::Seconds, figures::DELAY);
        describe_histogram!(ATTEMPTS_PER_CALL, Unit::Count, figures::ATTEMPTS_PER_CALL);
        describe_histogram!(ATTEMPT_DURATION, Unit::Seconds, figures::ATTEMPT_DURATION);
        describe_histogram!(CALL_DURATION, Unit::Seconds, figures::CALL_DURATION);
        describe_histogram!(WAIT, Unit::Seconds, figures::WAIT);
        describe_counter!(OPENINGS, Unit::Count, figures::OPENINGS);
        describe_gauge!(BUDGET, Unit::Count, figures::BUDGET);
        describe_gauge!(BREAKER, Unit::Count, figures::BREAKER);
        describe_gauge!(RUNNING, Unit::Count, figures::RUNNING);
        describe_gauge!(WAITING, Unit::Count, figures::WAITING);
        describe_gauge!(LIMIT, Unit::Count, figures::LIMIT);
    }
}

impl<'a> Metrics<'a> {
    /// Shows under that name what is left of that budget, at each event of a call that names this observer.
    #[must_use]
    pub const fn budget(mut self, name: &'a str, budget: &'a Budget) -> Self {
        self.shared.budget = Some((name, budget));
        self
    }

    /// Shows under that name the state of that breaker, at each event of a call that names this observer. One of your own
    /// type is shown as its [`state`](crate::CircuitBreaker::state) says.
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
        breaker: &'a (dyn CircuitBreaker + Sync),
    ) -> Self {
        self.shared.breaker = Some((name, breaker));
        self
    }

    /// Shows under that name how full that limiter is, at each event of a call that names this observer.
    #[must_use]
    pub const fn limiter(mut self, name: &'a str, limiter: &'a ConcurrencyLimiter) -> Self {
        self.shared.limiter = Some((name, limiter));
        self
    }

    /// Measures the budget, the breaker and the limiter.
    fn gauge(&self) {
        if let Some((name, budget)) = self.shared.budget {
            gauge!(BUDGET, "budget" => shown(name).to_string()).set(budget.available());
        }
        if let Some((name, breaker)) = self.shared.breaker {
            let state = figures::number_of(breaker.state());
            gauge!(BREAKER, "breaker" => shown(name).to_string()).set(state);
        }
        if let Some((name, limiter)) = self.shared.limiter {
            let name = shown(name).to_string();
            for (gauge, attempts) in [
                (RUNNING, limiter.running()),
                (WAITING, limiter.waiting() as u64),
                (LIMIT, limiter.limit().into()),
            ] {
                let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
                gauge!(gauge, "limiter" => name.clone()).set(attempts);
            }
        }
    }
}

impl Observer for Metrics<'_> {
    fn observe(&self, event: &Event<'_>) {
        // Asked for at each event, so that the time is known of each end.
        let (elapsed, attempt_elapsed) = (event.elapsed(), event.attempt_elapsed());
        let name = || shown(event.call).to_string();
        if let Some(end) = event.attempt_end() {
            let kind = end.name();
            counter!(ATTEMPTS, "name" => name(), "kind" => kind).increment(1);
            if let Some(took) = attempt_elapsed {
                histogram!(ATTEMPT_DURATION, "name" => name(), "kind" => kind)
                    .record(took.as_secs_f64());
            }
        }
        if let Some(pause) = event.pause() {
            histogram!(DELAY, "name" => name()).record(pause.as_secs_f64());
        }
        match event.data {
            EventData::Waited { waited } => {
                histogram!(WAIT, "name" => name()).record(waited.as_secs_f64());
            }
            EventData::BreakerOpened { .. } => counter!(OPENINGS, "name" => name()).increment(1),
            _ => {}
        }
        if let Some(CallEnd { attempts, outcome }) = event.call_end() {
            let retried = if attempts > 1 { "true" } else { "false" };
            let outcome = outcome.name();
            counter!(CALLS, "name" => name(), "outcome" => outcome, "retried" => retried)
                .increment(1);
            if let Some(took) = elapsed {
                histogram!(CALL_DURATION, "name" => name(), "outcome" => outcome)
                    .record(took.as_secs_f64());
            }
            histogram!(ATTEMPTS_PER_CALL, "name" => name()).record(f64::from(attempts));
        }
        self.gauge();
    }
}
