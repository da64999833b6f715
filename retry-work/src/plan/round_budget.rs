use std::cell::RefCell;

use retry_runtime::{Kind, seam::RetryBudget};

/// The budget of a round, in which each retried subtask pays separately, according to its kind of failure.
pub(crate) struct RoundBudget<'a> {
    pub(crate) budget: &'a dyn RetryBudget,
    /// The subtasks that have to pay, by index. After the payment, those that have paid.
    pub(crate) payers: RefCell<Vec<(usize, Kind)>>,
    /// True if other subtasks are retried without payment.
    pub(crate) is_free: bool,
}

/// Each subtask records its calls, successes and failures on the inner budget itself.
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
