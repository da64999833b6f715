use core::cell::RefCell;

use crate::budget::retry_budget::RetryBudget;
use crate::classify::kind::Kind;

/// What a round is paid from: each subtask that is retried pays for itself, after its own kind of failure.
pub(crate) struct RoundBudget<'a> {
    pub(crate) budget: &'a dyn RetryBudget,
    /// The subtasks that have to pay, by index. Once they were asked, those that have paid.
    pub(crate) payers: RefCell<Vec<(usize, Kind)>>,
    /// Whether others are retried that pay nothing.
    pub(crate) is_free: bool,
}

/// The budget itself is told of calls, successes and failures by each subtask.
impl RetryBudget for RoundBudget<'_> {
    fn withdraw(&self, _: Kind) -> bool {
        let mut payers = self.payers.borrow_mut();
        payers.retain(|(_, kind)| self.budget.withdraw(*kind));
        self.is_free || !payers.is_empty()
    }

    fn refund(&self, _: Kind) {
        for (_, kind) in self.payers.take() {
            self.budget.refund(kind);
        }
    }
}
