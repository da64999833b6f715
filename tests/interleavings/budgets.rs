//! Tokens are never invented, never lost, never more than there is room for.

use std::sync::Arc;
use std::time::Duration;

use shuttle::thread;

use crate::budget::bucket::Budget;
use crate::budget::retry_budget::{Paid, RetryBudget};
use crate::classify::kind::Kind::{Throttled, Transient};
use crate::clock;
use crate::keyed::Keyed;
use crate::{every, many};

fn is(budget: &Budget, tokens: u32) {
    assert!(
        (budget.available() - f64::from(tokens)).abs() < 1e-6,
        "{budget}, and not {tokens}"
    );
}

/// Each in a thread of its own, to their end.
fn at_once(budget: &Arc<Budget>, work: &[fn(&Budget)]) {
    let threads: Vec<_> = work
        .iter()
        .map(|work| {
            let (budget, work) = (Arc::clone(budget), *work);
            thread::spawn(move || work(&budget))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_budget_pays_as_often_as_it_can() {
    every(|| {
        let budget = Arc::new(Budget::standard().capacity(20));
        let pays = || {
            let budget = Arc::clone(&budget);
            thread::spawn(move || u32::from(budget.withdraw(Transient)))
        };
        let threads = [pays(), pays()];
        let paid: u32 = threads.into_iter().map(|paid| paid.join().unwrap()).sum();
        assert_eq!(paid, 1);
        is(&budget, 6);
    });
}

#[test]
fn unused_payments_are_refunded() {
    many(|| {
        let budget = Arc::new(Budget::standard().capacity(100));
        at_once(
            &budget,
            &[
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
        at_once(
            &budget,
            &[
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
        let call: fn(&Budget) = |budget| budget.called();
        at_once(&budget, &[call, call]);
        is(&budget, 1);
    });
}

#[test]
fn failures_of_grpc_all_count() {
    many(|| {
        let budget = Arc::new(Budget::grpc(10, 1.0));
        at_once(
            &budget,
            &[
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
fn time_gives_its_tokens_once() {
    many(|| {
        clock::set(Duration::from_secs(100));
        let budget = Arc::new(Budget::ratio(0.0).capacity(20).per_second(1.0));
        while budget.withdraw(Transient) {}
        clock::set(Duration::from_secs(110));
        let look: fn(&Budget) = |budget| assert!(budget.available() <= 10.0);
        at_once(&budget, &[look, look, look]);
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
        let retry: fn(&Budget) = |budget| {
            for _ in 0..2 {
                // Until the one that adds the tokens has done so, there may be none.
                while !budget.withdraw(Transient) {
                    thread::yield_now();
                }
            }
        };
        at_once(&budget, &[retry, retry, retry]);
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
