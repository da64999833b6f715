//! Tokens are never created or lost, and never exceed the capacity. Each key has one budget, no matter which thread
//! requests it first, and the number of budgets is limited.

use std::sync::Arc;
use std::time::Duration;

use shuttle::thread;

use crate::budget::bucket::Budget;
use crate::budget::retry_budget::{Paid, RetryBudget};
use crate::classify::kind::Kind::{Throttled, Transient};
use crate::clock;
use crate::keyed::{Evictable, Keyed};
use crate::{at_once, every, many};

impl Evictable for Budget {
    fn can_evict(&self, is_unused: bool) -> bool {
        is_unused || self.is_full()
    }
}

fn budgets(most: usize) -> Arc<Keyed<String, Budget>> {
    Arc::new(Keyed::new(most, Budget::standard))
}

fn is(budget: &Budget, tokens: u32) {
    assert!(
        (budget.available() - f64::from(tokens)).abs() < 1e-6,
        "{budget}, and not {tokens}"
    );
}

/// Runs each function in a thread of its own, and waits for all threads.
fn each_at_once<const N: usize>(budget: &Arc<Budget>, work: [fn(&Budget); N]) {
    at_once(budget, N, move |budget, number| work[number](budget));
}

#[test]
fn concurrent_withdrawals_never_overdraw() {
    every(|| {
        let budget = Arc::new(Budget::standard().capacity(20));
        let paid = at_once(&budget, 2, |budget, _| {
            u32::from(budget.withdraw(Transient))
        });
        assert_eq!(paid.iter().sum::<u32>(), 1);
        is(&budget, 6);
    });
}

#[test]
fn unused_payments_are_refunded() {
    many(|| {
        let budget = Arc::new(Budget::standard().capacity(100));
        each_at_once(
            &budget,
            [
                |budget| {
                    assert!(budget.withdraw(Transient));
                    drop(Paid::new(budget, Some(Transient)));
                },
                |budget| {
                    assert!(budget.withdraw(Throttled));
                    budget.refund(Throttled);
                },
                |budget| {
                    assert!(budget.withdraw(Transient));
                    Paid::new(budget, Some(Transient)).spend();
                },
            ],
        );
        is(&budget, 100 - 14);
    });
}

#[test]
fn tokens_never_exceed_the_capacity() {
    many(|| {
        let budget = Arc::new(Budget::standard().capacity(20));
        budget.withdraw(Throttled);
        each_at_once(
            &budget,
            [
                |budget| {
                    budget.succeeded(Some(Throttled));
                    assert!(budget.available() <= 20.0);
                },
                |budget| budget.refund(Throttled),
                |budget| budget.succeeded(None),
            ],
        );
        is(&budget, 20);
    });
}

#[test]
fn calls_and_retries_of_a_ratio_add_up() {
    every(|| {
        let budget = Arc::new(Budget::ratio(0.5).capacity(2));
        while budget.withdraw(Transient) {}
        at_once(&budget, 2, |budget, _| budget.called());
        is(&budget, 1);
    });
}

#[test]
fn concurrent_failures_all_cost_a_grpc_token() {
    many(|| {
        let budget = Arc::new(Budget::grpc(10, 1.0));
        each_at_once(
            &budget,
            [
                |budget| budget.failed(Transient),
                |budget| budget.failed(Transient),
                |budget| {
                    budget.failed(Transient);
                    budget.succeeded(None);
                },
            ],
        );
        is(&budget, 10 - 3 + 1);
    });
}

#[test]
fn concurrent_reads_add_the_tokens_of_a_time_span_once() {
    many(|| {
        clock::set(Duration::from_secs(100));
        let budget = Arc::new(Budget::ratio(0.0).capacity(20).per_second(1.0));
        while budget.withdraw(Transient) {}
        clock::set(Duration::from_secs(110));
        at_once(&budget, 3, |budget, _| assert!(budget.available() <= 10.0));
        is(&budget, 10);
    });
}

#[test]
fn time_and_retries_add_up() {
    many(|| {
        clock::set(Duration::from_secs(100));
        let budget = Arc::new(Budget::ratio(0.0).capacity(10).per_second(1.0));
        while budget.withdraw(Transient) {}
        clock::set(Duration::from_secs(110));
        at_once(&budget, 3, |budget, _| {
            for _ in 0..2 {
                // The budget may be empty until one of the threads adds the tokens for the elapsed time.
                while !budget.withdraw(Transient) {
                    thread::yield_now();
                }
            }
        });
        is(&budget, 10 - 6);
    });
}

/// In a browser, a program may have only its own timer as a clock.
#[test]
fn the_clock_is_read_only_if_time_adds_tokens_or_room() {
    every(|| {
        clock::remove();
        let hosts = Keyed::new(2, || Budget::grpc(10, 0.1));
        for budget in [
            Budget::standard,
            || Budget::ratio(0.1),
            || Budget::grpc(10, 0.1),
        ] {
            let budget = budget();
            budget.called();
            budget.withdraw(Transient);
            budget.failed(Transient);
            budget.succeeded(None);
            assert!(budget.available() > 0.0);
        }
        for host in ["a", "b", "a"] {
            hosts.of(host).failed(Transient);
        }
        assert_eq!(hosts.of("a").to_string(), "8 of 10 tokens");
    });
}

#[test]
fn concurrent_requests_get_the_same_value() {
    every(|| {
        let hosts = budgets(2);
        at_once(&hosts, 2, |hosts, _| {
            assert!(hosts.of("a").withdraw(Transient));
        });
        assert_eq!(hosts.len(), 1);
        assert_eq!(hosts.of("a").to_string(), "472 of 500 tokens");
    });
}

/// A value that a call holds, or that was used, is not evicted to make room for another key.
#[test]
fn the_number_of_values_stays_within_the_limit() {
    many(|| {
        let hosts = budgets(1);
        at_once(&hosts, 2, |hosts, number| {
            let budget = hosts.of(["a", "b"][number]);
            assert!(hosts.len() <= 1);
            assert!(budget.withdraw(Transient));
        });
        assert_eq!(hosts.len(), 1);
        // Neither payment is lost: one host has its own budget, and the other uses the shared one.
        assert_eq!(hosts.of("a").to_string(), "486 of 500 tokens");
        assert_eq!(hosts.of("b").to_string(), "486 of 500 tokens");
    });
}
