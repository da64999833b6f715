use std::cell::RefCell;

use retry_runtime::{Kind, seam::RetryBudget};

/// The budget of a round: each retried subtask pays for itself, according to its own kind of failure.
pub(crate) struct RoundBudget<'a> {
    pub(crate) budget: &'a dyn RetryBudget,
    /// The subtasks that have to pay, by index. After the payment, those that have paid.
    pub(crate) payers: RefCell<Vec<(usize, Kind)>>,
    /// True if other subtasks are retried without payment.
    pub(crate) is_free: bool,
}

/// Calls, successes and failures are recorded on the budget itself by each subtask.
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
