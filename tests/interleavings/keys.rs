//! Each key has one value, no matter which thread requests it first, and the number of values is limited.

use std::sync::Arc;

use crate::budget::bucket::Budget;
use crate::budget::retry_budget::RetryBudget;
use crate::classify::kind::Kind;
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

#[test]
fn concurrent_requests_get_the_same_value() {
    every(|| {
        let hosts = budgets(2);
        at_once(&hosts, 2, |hosts, _| {
            assert!(hosts.of("a").withdraw(Kind::Transient));
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
            assert!(budget.withdraw(Kind::Transient));
        });
        assert_eq!(hosts.len(), 1);
        // Neither payment is lost: one host has its own budget, and the other uses the shared one.
        assert_eq!(hosts.of("a").to_string(), "486 of 500 tokens");
        assert_eq!(hosts.of("b").to_string(), "486 of 500 tokens");
    });
}
