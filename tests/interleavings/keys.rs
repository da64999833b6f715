//! Each key has one value, no matter which thread requests it first, and their number is limited.

use std::sync::Arc;

use shuttle::thread;

use crate::budget::bucket::Budget;
use crate::budget::retry_budget::RetryBudget;
use crate::classify::kind::Kind;
use crate::keyed::{Evictable, Keyed};
use crate::{every, many};

impl Evictable for Budget {
    fn can_evict(&self, is_unused: bool) -> bool {
        is_unused || self.is_full()
    }
}

fn budgets(most: usize) -> Arc<Keyed<String, Budget>> {
    Arc::new(Keyed::new(most, Budget::standard))
}

#[test]
fn concurrent_requests_get_the_same_value() {
    every(|| {
        let hosts = budgets(2);
        let pay = || {
            let hosts = Arc::clone(&hosts);
            thread::spawn(move || assert!(hosts.of("a").withdraw(Kind::Transient)))
        };
        for thread in [pay(), pay()] {
            thread.join().unwrap();
        }
        assert_eq!(hosts.len(), 1);
        assert_eq!(hosts.of("a").to_string(), "472 of 500 tokens");
    });
}

/// One that is held or used is not forgotten for another's sake.
#[test]
fn there_are_no_more_than_may_be() {
    many(|| {
        let hosts = budgets(1);
        let pay = |host: &'static str| {
            let hosts = Arc::clone(&hosts);
            thread::spawn(move || {
                let budget = hosts.of(host);
                assert!(hosts.len() <= 1);
                assert!(budget.withdraw(Kind::Transient));
            })
        };
        for thread in [pay("a"), pay("b")] {
            thread.join().unwrap();
        }
        assert_eq!(hosts.len(), 1);
        // Neither payment is lost: one of the two has its own, and the other shares.
        assert_eq!(hosts.of("a").to_string(), "486 of 500 tokens");
        assert_eq!(hosts.of("b").to_string(), "486 of 500 tokens");
    });
}
