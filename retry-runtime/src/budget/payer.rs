use crate::budget::retry_budget::RetryBudget;
use crate::classify::kind::Kind;
use crate::forward::forward;

/// What pays for the retries of an expansion. It is a budget for every `B`, so that an error about the bound appears
/// once, where the expression is written.
#[derive(Debug)]
pub struct Payer<B> {
    budget: B,
    as_budget: fn(&B) -> &dyn RetryBudget,
    // Apart, because each success without a retry calls it.
    succeeded_at_once: fn(&B),
}

/// The value of the key `budget`, as what pays.
#[inline]
pub fn budget<B: RetryBudget>(budget: B) -> Payer<B> {
    fn as_budget<B: RetryBudget>(budget: &B) -> &dyn RetryBudget {
        budget
    }
    Payer {
        budget,
        as_budget,
        succeeded_at_once: B::succeeded_at_once,
    }
}

forward! {
    @held RetryBudget {
        fn withdraw(&self, kind: Kind) -> bool;
        fn refund(&self, kind: Kind);
        fn called(&self);
        fn succeeded(&self, retried: Option<Kind>);
        fn answered(&self, retried: Option<Kind>);
        fn failed(&self, kind: Kind);
    }
    [] [B] Payer<B>, |payer| (payer.as_budget)(&payer.budget), {
        #[inline]
        fn succeeded_at_once(&self) {
            (self.succeeded_at_once)(&self.budget);
        }
    }
}
