use crate::budget::retry_budget::RetryBudget;
use crate::classify::kind::Kind;

/// What a budget paid, given back if the user's code panics before all are told of the retry.
pub(super) struct Unreported<'a> {
    pub(super) budget: &'a dyn RetryBudget,
    pub(super) kind: Kind,
}

impl Drop for Unreported<'_> {
    fn drop(&mut self) {
        self.budget.refund(self.kind);
    }
}
