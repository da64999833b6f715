use core::cell::RefCell;

use crate::budget::retry_budget::RetryBudget;
use crate::classify::kind::Kind;

/// What a round is paid from: each subtask that is retried pays for itself, after its own kind of failure.
pub(crate) struct RoundBudget<'a> {
    budget: &'a dyn RetryBudget,
    /// The subtasks that have to pay, by index.
    retried: Vec<(usize, Kind)>,
    /// Whether others are retried that pay nothing.
    is_free: bool,
    paid: RefCell<Vec<(usize, Kind)>>,
}

impl<'a> RoundBudget<'a> {
    pub(crate) fn new(
        budget: &'a dyn RetryBudget,
        retried: Vec<(usize, Kind)>,
        is_free: bool,
    ) -> Self {
        Self {
            budget,
            retried,
            is_free,
            paid: RefCell::default(),
        }
    }

    /// The subtasks that have paid.
    pub(crate) fn into_paid(self) -> Vec<(usize, Kind)> {
        self.paid.into_inner()
    }
}

/// The budget itself is told of calls, successes and failures by each subtask.
impl RetryBudget for RoundBudget<'_> {
    fn withdraw(&self, _: Kind) -> bool {
        let paid = self.retried.iter().copied();
        let paid = paid.filter(|(_, kind)| self.budget.withdraw(*kind));
        let paid: Vec<_> = paid.collect();
        let pays = self.is_free || !paid.is_empty();
        self.paid.replace(paid);
        pays
    }

    fn refund(&self, _: Kind) {
        for (_, kind) in self.paid.take() {
            self.budget.refund(kind);
        }
    }
}
