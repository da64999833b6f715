//! The key `budget`.

use crate::call::budget::{Paid, RetryBudget};
use crate::classify::kind::Kind;
use crate::classify::verdict::Verdict;

/// What pays for retries. It is a budget for every `B`, so that an error about the bound appears once, where the
/// expression is written.
#[derive(Debug)]
pub struct Payer<B> {
    budget: B,
    withdraw: fn(&B, Kind) -> bool,
    refund: fn(&B, Kind),
}

impl<B> RetryBudget for Payer<B> {
    fn withdraw(&self, kind: Kind) -> bool {
        (self.withdraw)(&self.budget, kind)
    }

    fn refund(&self, kind: Kind) {
        (self.refund)(&self.budget, kind);
    }
}

pub fn budget<B: RetryBudget>(budget: B) -> Payer<B> {
    Payer {
        budget,
        withdraw: B::withdraw,
        refund: B::refund,
    }
}

/// What the budget paid, as it allowed the retry.
pub fn paid<B>(budget: Payer<B>, verdict: Verdict) -> Paid<Payer<B>> {
    Paid::new(budget, verdict.kind())
}

/// The retry begins.
pub fn spend<B>(paid: Paid<Payer<B>>) {
    paid.spend();
}
