//! A reference model of a call's outcome, written from the pages `docs/keys_….md` alone. Compared with every form, for
//! random policies and scripts.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use support::forms::{AMBIGUOUS, Form, Key, Scenario, World, differences};
use support::prelude::*;
use tokio::runtime::Builder;

use super::rules::call;

/// The inputs of a call. Times are in milliseconds.
#[derive(Clone, Debug)]
struct Inputs {
    max: u32,
    backoff: Backoff,
    base: u64,
    cap: u64,
    floor: u64,
    /// `max` and `base` of the section.
    throttled: (Option<u32>, Option<u64>),
    timed_out: Option<u32>,
    hint: (Hint, Option<u64>),
    deadline: Option<u64>,
    total_delay: Option<u64>,
    idempotent: bool,
    enabled: bool,
    repeats: Option<u32>,
    timeout: Option<u64>,
    cancels: Option<u64>,
    opens_after: u32,
    capacity: u32,
    steps: Vec<Failure>,
    takes: Vec<u64>,
}

/// A breaker's state.
#[derive(Clone, Copy)]
enum Breaker {
    Closed { failures: u32 },
    Open { until: u64 },
    HalfOpen,
}

/// A call, attempt by attempt.
struct Call<'a> {
    inputs: &'a Inputs,
    now: u64,
    attempt: usize,
    /// Retries in the count of all kinds, of `throttled` and of `timed_out`.
    retries: [u32; 3],
    /// The sum of the pauses.
    paused: u64,
    /// The last failure, and the number of times it came in a row.
    same: (Option<Failure>, u32),
    breaker: Breaker,
    tokens: f64,
    /// The cost of the last retry.
    paid: f64,
    begun: Vec<u64>,
    reported: Vec<String>,
    /// Batches and plans differ: an attempt ran when the deadline came, which drops it there; or the call was cancelled
    /// or exhausted and its last failure was not worth a retry in any case, which is what a plan reports.
    is_single: bool,
}

fn text(millis: u64) -> String {
    format!("{:?}", Duration::from_millis(millis))
}

impl Call<'_> {
    /// Returns true if the call succeeds.
    fn run(&mut self) -> bool {
        loop {
            self.attempt += 1;
            if let Breaker::Open { until } = self.breaker {
                if self.now < until {
                    self.tokens += self.paid;
                    self.gives_up(self.attempt - 1, Reason::Rejected);
                    return false;
                }
                self.breaker = Breaker::HalfOpen;
                self.tell("breaker half open");
            }
            let Some((failure, is_dropped)) = self.attempt() else {
                self.answered();
                self.tell("succeeded");
                return true;
            };
            self.record(&failure);
            let delay = match self.decide(&failure, is_dropped) {
                Ok(delay) => delay,
                Err(reason) => {
                    self.gives_up(self.attempt, reason);
                    return false;
                }
            };
            let kind = failure.0.kind().expect("retryable");
            self.reported.push(format!(
                "retrying {} after {}: {kind}",
                self.attempt,
                text(delay)
            ));
            let end = self.now + delay;
            if let Some(cancels) = self.inputs.cancels.filter(|cancels| *cancels < end) {
                self.now = cancels;
                self.tokens += self.paid;
                self.gives_up(self.attempt, Reason::Cancelled);
                return false;
            }
            self.now = end;
        }
    }

    fn tell(&mut self, what: &str) {
        self.reported.push(format!("{what} {}", self.attempt));
    }

    fn gives_up(&mut self, attempt: usize, reason: Reason) {
        self.reported.push(format!("gave up {attempt}: {reason}"));
    }

    /// Makes the attempt. Returns its failure, and true if its time was up.
    fn attempt(&mut self) -> Option<(Failure, bool)> {
        self.begun.push(self.now);
        self.tell("starting");
        let index = self.attempt - 1;
        let takes = self.inputs.takes.get(index).copied().unwrap_or_default();
        let limit = self.inputs.timeout.filter(|limit| takes > *limit);
        self.now += limit.unwrap_or(takes);
        let deadline = self.inputs.deadline;
        self.is_single |= deadline.is_some_and(|deadline| self.now > deadline);
        match limit {
            Some(_) => Some((TIMEOUT, true)),
            None => Some((self.inputs.steps.get(index)?.clone(), false)),
        }
    }

    /// The server responded: breaker and budget count it as a success.
    fn answered(&mut self) {
        if let Breaker::HalfOpen = self.breaker {
            self.tell("breaker closed");
        }
        self.breaker = Breaker::Closed { failures: 0 };
        let gives = if self.attempt == 1 { 1.0 } else { self.paid };
        self.tokens = (self.tokens + gives).min(self.inputs.capacity.into());
    }

    fn record(&mut self, failure: &Failure) {
        let failures = match (failure.0.kind(), self.breaker) {
            (None, _) => return self.answered(),
            (Some(Kind::Throttled), _) => return,
            (Some(_), Breaker::Closed { failures }) => failures + 1,
            (Some(_), _) => u32::MAX,
        };
        self.breaker = Breaker::Closed { failures };
        if failures >= self.inputs.opens_after {
            let hint = failure.0.hint().map(millis);
            let until = self.now + hint.map_or(5_000, |hint| hint.clamp(1_000, 120_000));
            self.breaker = Breaker::Open { until };
            self.tell("breaker opened");
        }
    }

    fn decide(&mut self, failure: &Failure, is_dropped: bool) -> Result<u64, Reason> {
        let (inputs, verdict) = (self.inputs, failure.0);
        let kind = verdict.kind().ok_or(Reason::NotRetryable)?;
        let is_ambiguous = (verdict.is_ambiguous() || is_dropped) && !inputs.idempotent;
        if inputs.cancels.is_some_and(|cancels| cancels <= self.now) {
            self.is_single |= is_ambiguous || self.is_refused(verdict.hint().map(millis));
            return Err(Reason::Cancelled);
        }
        if is_ambiguous {
            return Err(Reason::Ambiguous);
        }
        let (last, same) = &mut self.same;
        *same = if last.as_ref() == Some(failure) {
            *same + 1
        } else {
            1
        };
        *last = Some(failure.clone());
        if inputs.repeats.is_some_and(|repeats| *same >= repeats) {
            return Err(Reason::Repeated);
        }
        let (count, max) = match kind {
            Kind::Throttled if inputs.throttled.0.is_some() => (1, inputs.throttled.0),
            Kind::Timeout if inputs.timed_out.is_some() => (2, inputs.timed_out),
            _ => (0, Some(inputs.max)),
        };
        let retry = self.retries[count] + 1;
        if !inputs.enabled || max.is_some_and(|max| retry > max) {
            self.is_single |= self.is_refused(verdict.hint().map(millis));
            return Err(Reason::Exhausted);
        }
        let delay = self.delay(kind, verdict.hint().map(millis), retry)?;
        let cost = if kind == Kind::Throttled { 5.0 } else { 14.0 };
        if self.tokens < cost {
            return Err(Reason::Budget);
        }
        self.tokens -= cost;
        self.paid = cost;
        self.retries[count] = retry;
        self.paused += delay;
        Ok(delay)
    }

    /// The time until the deadline or the end of `total_delay`. `None` after the deadline.
    fn time_left(&self) -> Option<u64> {
        let pauses = self.inputs.total_delay.unwrap_or(u64::MAX);
        let deadline = self.inputs.deadline.unwrap_or(u64::MAX);
        Some((pauses.saturating_sub(self.paused)).min(deadline.checked_sub(self.now)?))
    }

    /// Returns true if the hint alone ends the call.
    fn is_refused(&self, hint: Option<u64>) -> bool {
        let left = self.time_left().unwrap_or_default();
        let is_final = matches!(self.inputs.hint.0, Hint::Honor | Hint::Exact);
        self.is_too_long(hint) || is_final && hint.is_some_and(|hint| hint > left)
    }

    fn is_too_long(&self, hint: Option<u64>) -> bool {
        let (rule, longest) = self.inputs.hint;
        let is_final = matches!(rule, Hint::Honor | Hint::Exact);
        is_final && hint.is_some_and(|hint| hint > longest.unwrap_or(120_000))
    }

    fn delay(&self, kind: Kind, hint: Option<u64>, retry: u32) -> Result<u64, Reason> {
        let inputs = self.inputs;
        let base = match kind {
            Kind::Throttled => inputs.throttled.1.unwrap_or(inputs.base),
            _ => inputs.base,
        };
        let times = match inputs.backoff {
            Backoff::Exponential => 1 << (retry - 1),
            Backoff::Linear => u64::from(retry),
            Backoff::Fibonacci => [1, 1, 2, 3, 5, 8, 13, 21, 34][retry as usize - 1],
            _ => 1,
        };
        let own = match inputs.backoff {
            Backoff::None => 0,
            _ => (base * times).max(inputs.floor).min(inputs.cap),
        };
        let (rule, longest) = inputs.hint;
        if self.is_too_long(hint) {
            return Err(Reason::HintTooLong);
        }
        let delay = match (rule, hint) {
            (Hint::Honor, Some(hint)) => hint.max(own),
            (Hint::Clamp, Some(hint)) => hint.min(longest.unwrap_or(own + 5_000)).max(own),
            (Hint::Exact, Some(hint)) => hint,
            _ => own,
        };
        match self.time_left() {
            Some(left) if delay <= left => Ok(delay),
            _ => Err(Reason::Deadline),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis().try_into().expect("small")
}

impl Inputs {
    fn policy(&self) -> Policy {
        let ms = Duration::from_millis;
        let mut policy = Policy::new()
            .jitter(Jitter::None)
            .max(self.max)
            .backoff(self.backoff)
            .base(ms(self.base))
            .cap(ms(self.cap))
            .floor(ms(self.floor))
            .hint(self.hint.0);
        if let Some(longest) = self.hint.1 {
            policy = policy.max_hint(ms(longest));
        }
        if let Some(deadline) = self.deadline {
            policy = policy.deadline(ms(deadline));
        }
        if let Some(total) = self.total_delay {
            policy = policy.total_delay(ms(total));
        }
        let mut throttled = Section::new();
        if let Some(max) = self.throttled.0 {
            throttled = throttled.max(max);
        }
        if let Some(base) = self.throttled.1 {
            throttled = throttled.base(ms(base));
        }
        if let Some(max) = self.timed_out {
            policy = policy.timed_out(Section::new().max(max));
        }
        policy.throttled(throttled)
    }

    /// The inputs, with the outcome by the model.
    fn scenario(&self) -> Scenario {
        let mut call = Call {
            inputs: self,
            now: 0,
            attempt: 0,
            retries: [0; 3],
            paused: 0,
            same: (None, 0),
            breaker: Breaker::Closed { failures: 0 },
            tokens: self.capacity.into(),
            paid: 0.0,
            begun: Vec::new(),
            reported: Vec::new(),
            is_single: false,
        };
        let succeeds = call.run();
        let mut keys = vec![Key::Max];
        keys.extend(self.repeats.map(|_| Key::Repeats));
        keys.extend(self.timeout.map(|_| Key::Timeout));
        let ms = Duration::from_millis;
        Scenario {
            keys: keys.leak(),
            forms: if call.is_single {
                |form| !form.is_dropped_at_deadline()
            } else {
                |_| true
            },
            numbers: self.policy(),
            budget: match self.capacity {
                500 => Budget::standard,
                28 => || Budget::standard().capacity(28),
                _ => || Budget::standard().capacity(18),
            },
            opens_after: self.opens_after,
            steps: self.steps.clone(),
            takes: self.takes.clone(),
            limit: self.timeout.map_or(Duration::MAX, ms),
            idempotent: self.idempotent,
            enabled: self.enabled,
            repeats: self.repeats.unwrap_or(u32::MAX),
            cancels: self.cancels.map(ms),
            succeeds,
            begun: call.begun,
            reported: call
                .reported
                .into_iter()
                .map(|line| &*line.leak())
                .collect(),
            tokens: call.tokens,
            ends: call.now,
            ..Scenario::default()
        }
    }
}

fn failure() -> impl Strategy<Value = Failure> {
    let plain = vec![
        TRANSIENT, TRANSIENT, TRANSIENT, THROTTLED, TIMEOUT, AMBIGUOUS, STOP,
    ];
    let hints = vec![500, 3_000, 9_000, 100_000, 500_000];
    let hinted = (
        select(vec![Verdict::THROTTLED, Verdict::TRANSIENT]),
        select(hints),
    );
    prop_oneof![
        4 => select(plain),
        1 => hinted.prop_map(|(verdict, hint)| Failure(verdict.after(Duration::from_millis(hint)))),
    ]
}

/// Times at which something ends the call are not those at which an attempt or a pause ends, because the order of what
/// happens at the same time is not specified.
fn inputs() -> impl Strategy<Value = Inputs> {
    let shapes = vec![
        Backoff::Exponential,
        Backoff::Fixed,
        Backoff::Linear,
        Backoff::Fibonacci,
        Backoff::None,
    ];
    let delays = (
        select(shapes),
        select(vec![100, 500, 1_000]),
        select(vec![1_000, 2_500, 30_000]),
        select(vec![0, 0, 300]),
        (
            option::weighted(0.3, 0..3_u32),
            option::weighted(0.3, Just(700)),
        ),
        option::weighted(0.2, 0..3_u32),
    );
    let hints = select(vec![Hint::Honor, Hint::Clamp, Hint::Exact, Hint::Ignore]);
    let rules = (
        0..6_u32,
        (hints, option::weighted(0.3, Just(4_000))),
        option::weighted(0.3, select(vec![55, 1_055, 3_055, 8_055])),
        option::weighted(0.2, select(vec![1_033, 4_033])),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.9),
    );
    let ends = (
        option::weighted(0.2, 2..4_u32),
        option::weighted(0.3, Just(180)),
        option::weighted(0.2, select(vec![10, 610, 2_210, 6_110])),
        select(vec![1, 2, 3, 99]),
        select(vec![500, 500, 28, 18]),
    );
    let script = (
        vec(failure(), 0..8),
        vec(select(vec![0, 0, 100, 200, 2_000]), 0..8),
    );
    (delays, rules, ends, script).prop_map(|(delays, rules, ends, script)| {
        let (backoff, base, cap, floor, throttled, timed_out) = delays;
        let (max, hint, deadline, total_delay, idempotent, enabled) = rules;
        let (repeats, timeout, cancels, opens_after, capacity) = ends;
        Inputs {
            max,
            backoff,
            base,
            cap,
            floor,
            throttled,
            timed_out,
            hint,
            deadline,
            total_delay,
            idempotent,
            enabled,
            repeats,
            timeout,
            cancels,
            opens_after,
            capacity,
            steps: script.0,
            takes: script.1,
        }
    })
}

#[test]
fn every_form_behaves_like_the_model() {
    let mut runner = TestRunner::deterministic();
    let mut differ = Vec::new();
    for _ in 0..2_000 {
        let inputs = inputs().new_tree(&mut runner).expect("inputs").current();
        let scenario = inputs.scenario();
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let forms = Form::ALL.iter().filter(|form| scenario.is_for(**form));
        for form in forms.filter(|form| !form.is_of_whole_client()) {
            let call = async |world: &Arc<World>| call(*form, world).await;
            let differences = runtime.block_on(differences(form, &scenario, call));
            differ.extend(differences.iter().map(|text| format!("{inputs:?}\n{text}")));
        }
    }
    let first = &differ[..differ.len().min(5)];
    assert!(
        differ.is_empty(),
        "{} differ, such as\n{}",
        differ.len(),
        first.join("\n\n")
    );
}
