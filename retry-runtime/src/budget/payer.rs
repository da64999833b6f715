use crate::budget::retry_budget::RetryBudget;

/// What pays for the retries of an expansion. It is a budget for every `B`, so that an error about the bound appears
/// once, where the expression is written.
#[derive(Debug)]
pub struct Payer<B> {
    budget: B,
    as_budget: fn(&B) -> &dyn RetryBudget,
}

impl<B> Payer<B> {
    #[inline]
    pub(crate) fn as_budget(&self) -> &dyn RetryBudget {
        (self.as_budget)(&self.budget)
    }
}

/// The value of the key `budget`, as what pays.
#[inline]
pub fn budget<B: RetryBudget>(budget: B) -> Payer<B> {
    fn as_budget<B: RetryBudget>(budget: &B) -> &dyn RetryBudget {
        budget
    }
    Payer { budget, as_budget }
}
