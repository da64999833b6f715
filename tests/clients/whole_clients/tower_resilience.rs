//! The expectations in the tests of tower-resilience 0.13's `retry`:
//! <https://github.com/joshrotenberg/tower-resilience/tree/main/tests/retry>, 60 of them, and three of
//! `crates/tower-resilience-retry/tests/contract.rs`.
//!
//! Its `max_attempts(n)` is `max(n - 1)`, its `retry_on` is `on`, and its listeners are one `observe`. Two tests
//! differ:
//!
//! - `default_configuration` expects two retries, and the default here is three.
//! - `retry_readiness_error_is_terminal_and_preserved`: here, a service that doesn't become ready for a retry has
//!   failed like any other, so the policy decides (`readiness.rs`).

use futures_util::future::join_all;
use retry_clients::tower::{ByClone, RetryLayer};
use support::prelude::*;
use tower::limit::ConcurrencyLimit;
use tower::{Layer, Service, ServiceExt, service_fn};

use super::plain::{Fault, Plain};

const MS: fn(u64) -> Duration = Duration::from_millis;
const FIXED: Policy = Policy::fixed(Duration::from_millis(10)).jitter(Jitter::None);
const EXPONENTIAL: Policy = Policy::new().base(Duration::from_millis(50)).jitter(Jitter::None);
const ANY: On = |_| true;

fn layer(policy: &Policy, on: On) -> RetryLayer<ByClone<&'static str, Fault>> {
    RetryLayer::cloning(*policy, move |outcome: Result<&&str, &Fault>| {
        outcome.err().map(|fault| Verdict::from(on(fault.0)))
    })
}

type On = fn(&str) -> bool;

/// The failures of the attempts, the failures that are retried, and the number of attempts, 10 ms apart.
type Behaviour = (&'static str, u32, &'static [&'static str], On, usize);

const BUSY: &[&str] = &["busy"; 100];
const RETRYABLE: On = |fault| fault == "retryable";
const SERVER: On = |fault| fault.starts_with("503") || fault.starts_with("429");

const BEHAVIOURS: [Behaviour; 12] = [
    ("success_on_first_attempt_no_retry", 4, &[], ANY, 1),
    ("success_after_one_retry", 2, BUSY.split_at(1).0, ANY, 2),
    ("success_after_multiple_retries", 5, BUSY.split_at(4).0, ANY, 5),
    ("exhaust_all_attempts", 3, BUSY, ANY, 4),
    ("single_attempt_no_retries", 0, BUSY, ANY, 1),
    ("max_attempts_two_allows_one_retry", 1, &["busy"], ANY, 2),
    ("max_attempts_hundred", 99, BUSY.split_at(50).0, ANY, 51),
    ("stop_on_non_retryable_error", 4, &["retryable", "stop"], RETRYABLE, 2),
    ("dont_retry_non_retryable_errors", 4, &["stop"], RETRYABLE, 1),
    ("retry_only_retryable_errors", 2, &["retryable"], RETRYABLE, 2),
    ("predicate_never_retries", 4, BUSY, |_| false, 1),
    ("predicate_complex_logic", 4, &["503", "429", "404"], SERVER, 3),
];

/// The pauses after failures, in milliseconds.
type Pauses = (&'static str, Policy, &'static [u128]);

fn pauses() -> [Pauses; 8] {
    let fixed = |pause| FIXED.base(MS(pause));
    let linear = Policy::linear(MS(50)).jitter(Jitter::None);
    let fibonacci = Policy::fibonacci(MS(10)).jitter(Jitter::None).max(5);
    let capped = EXPONENTIAL.max(5).cap(MS(150));
    [
        ("fixed_interval_consistent_delays", fixed(50), &[50, 50, 50]),
        ("exponential_backoff_doubles_delay", EXPONENTIAL, &[50, 100, 200]),
        ("exponential_backoff_custom_multiplier", EXPONENTIAL.factor(3.0), &[50, 150]),
        ("exponential_backoff_respects_max_interval", capped, &[50, 100, 150, 150]),
        ("custom_function_interval_linear_growth", linear, &[50, 100, 150]),
        ("custom_function_interval_fibonacci", fibonacci, &[10, 10, 20, 30]),
        ("custom_function_interval_constant", fixed(100), &[100, 100]),
        ("zero_backoff_retries_immediately", fixed(0), &[0, 0]),
    ]
}

/// With `request_cloning_works_correctly` and `retries_error_without_clone_bound`; and 16 more that vary one of these
/// in its numbers or names: `custom_max_attempts_{one,two,hundred}`, five `*_configuration` of intervals,
/// `builder_pattern_chaining`, `config_with_retry_predicate`, `retry_all_errors_by_default`,
/// `predicate_{based_on_error_content,always_retries,with_multiple_error_types}`, and
/// `different_{configs,predicates}_different_services`.
#[tokio::test(start_paused = true)]
async fn attempts_and_predicates() {
    for (name, max, faults, on, attempts) in BEHAVIOURS {
        let service = Plain::failing(faults.iter().copied());
        let call = layer(&FIXED.max(max), on).layer(service.clone());
        let outcome = call.oneshot(String::from("ask")).await;
        let expected = faults.get(attempts - 1).map_or(Ok("hello"), |fault| Err(Fault(fault)));
        assert_eq!(outcome, expected, "{name}");
        assert_eq!(service.requests(), vec!["ask"; attempts], "{name}");
        assert_eq!(service.starts().last(), Some(&(attempts as u128 * 10 - 10)), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn pauses_between_attempts() {
    for (name, policy, pauses) in pauses() {
        let service = Plain::failing(BUSY[..pauses.len()].iter().copied());
        let call = layer(&policy, ANY).layer(service.clone());
        assert_eq!(call.oneshot(String::new()).await, Ok("hello"), "{name}");
        let starts = service.starts();
        let waits: Vec<_> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(waits, pauses, "{name}");
    }
}

/// `exponential_random_backoff_{has_variance,respects_max}`.
#[tokio::test(start_paused = true)]
async fn random_pauses() {
    let mut first = Vec::new();
    for _ in 0..50 {
        let service = Plain::failing(["busy"; 3]);
        let policy = EXPONENTIAL.base(MS(100)).cap(MS(200)).jitter(Jitter::Ratio(0.5));
        let call = layer(&policy, ANY).layer(service.clone());
        call.oneshot(String::new()).await.unwrap();
        let starts = service.starts();
        assert!((50..=150).contains(&starts[1]), "{starts:?}");
        assert!(starts[3] - starts[2] <= 200, "{starts:?}");
        first.push(starts[1]);
    }
    first.dedup();
    assert!(first.len() > 1);
}

/// `different_requests_`, `concurrent_requests_independently_retried` and `service_cloning_preserves_retry_behavior`.
#[tokio::test(start_paused = true)]
async fn calls_of_one_service_are_retried_separately() {
    let service = Plain::failing(["busy"; 5]);
    let retry = layer(&FIXED.max(1), ANY).layer(service.clone());
    let calls = (0..5).map(|number| retry.clone().oneshot(number.to_string()));
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!(service.starts(), [0, 0, 0, 0, 0, 10, 10, 10, 10, 10]);
}

/// `empty_response_type` and `predicate_with_external_state`.
#[tokio::test(start_paused = true)]
async fn a_predicate_can_use_its_captures() {
    let allowed = Arc::new(Mutex::new(true));
    let allows = Arc::clone(&allowed);
    let on = move |outcome: Result<&(), &Fault>| {
        outcome.err().map(|_| Verdict::from(*allows.lock().unwrap()))
    };
    let calls = Arc::new(Mutex::new(0));
    let called = Arc::clone(&calls);
    let retry = RetryLayer::cloning(FIXED, on).layer(service_fn(move |_: u8| {
        let mut calls = called.lock().unwrap();
        *calls += 1;
        ready(if *calls % 3 == 0 { Ok(()) } else { Err(Fault("busy")) })
    }));
    assert_eq!(retry.clone().oneshot(1).await, Ok(()));
    *allowed.lock().unwrap() = false;
    assert_eq!(retry.oneshot(2).await, Err(Fault("busy")));
    assert_eq!(*calls.lock().unwrap(), 4);
}

/// All 11 of `retry_events.rs`, and `multiple_event_listeners`, `configuration_with_all_listeners` and
/// `name_configuration`: `on_retry` is `Retrying`, `on_success` `Succeeded`, and `on_error` and `on_ignored_error` are
/// `GaveUp` with its reason.
#[tokio::test(start_paused = true)]
async fn events() {
    let stops: On = |fault| fault != "stop";
    let cases: [(&[&'static str], &[&str]); 4] = [
        (&[], &["success 1"]),
        (&["busy", "busy"], &["retry 1 10ms", "retry 2 10ms", "success 3"]),
        (&["busy"; 3], &["retry 1 10ms", "retry 2 10ms", "exhausted 3"]),
        (&["stop"], &["not retryable 1"]),
    ];
    for (faults, expected) in cases {
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&recorded);
        let observe = move |event: &Event<'_>| {
            assert_eq!(event.call, "test-retry");
            let number = event.attempt;
            let line = match event.data {
                EventData::Retrying { delay, .. } => format!("retry {number} {delay:?}"),
                EventData::Succeeded { .. } => format!("success {number}"),
                EventData::GaveUp { reason, .. } => format!("{reason} {number}"),
                _ => return,
            };
            record.lock().unwrap().push(line);
        };
        let layer = layer(&FIXED.max(2), stops).name("test-retry").observe(observe);
        let call = layer.layer(Plain::failing(faults.iter().copied()));
        let _ = call.oneshot(String::new()).await;
        assert_eq!(*recorded.lock().unwrap(), expected);
    }
}

/// `retry_drives_readied_instance` and `retry_repolls_concurrency_limited_inner_before_each_attempt`: an attempt that
/// starts without a slot would panic.
#[tokio::test(start_paused = true)]
async fn each_attempt_waits_for_its_slot() {
    let service = Plain::failing(["busy"; 2]);
    let mut retry = layer(&FIXED, ANY).layer(ConcurrencyLimit::new(service.clone(), 1));
    for _ in 0..3 {
        let ready = retry.ready().await.unwrap();
        assert_eq!(ready.call(String::new()).await, Ok("hello"));
    }
    assert_eq!(service.starts().len(), 5);
}
