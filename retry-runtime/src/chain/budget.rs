use crate::budget::retry_budget::{Paid, RetryBudget};
use crate::call::state::Call;
use crate::chain::key::{Named, Unnamed};
use crate::classify::kind::Kind;

/// What the retries of a chain are paid from, if its key `budget` names something.
pub trait MayPay: Clone {
    /// What was paid for a retry, until that begins; by default nothing. Dropped before, it goes back.
    type Paid: Default;

    fn payer(&self) -> Option<&dyn RetryBudget>;
    /// What was paid for where a retry follows such a failure.
    fn paid(&self, kind: Option<Kind>) -> Self::Paid;
    /// What was paid for has begun.
    fn spend(paid: &mut Self::Paid);
    /// The call succeeded.
    fn credit(&self, call: &Call);
}

impl MayPay for Unnamed {
    type Paid = ();

    #[inline]
    fn payer(&self) -> Option<&dyn RetryBudget> {
        None
    }

    #[inline]
    fn paid(&self, _: Option<Kind>) {}

    #[inline]
    fn spend((): &mut ()) {}

    #[inline]
    fn credit(&self, _: &Call) {}
}

impl<B: RetryBudget + Clone> MayPay for Named<B> {
    type Paid = Option<Paid<B>>;

    fn payer(&self) -> Option<&dyn RetryBudget> {
        Some(&self.0)
    }

    fn paid(&self, kind: Option<Kind>) -> Option<Paid<B>> {
        Some(Paid::new(self.0.clone(), kind))
    }

    fn spend(paid: &mut Option<Paid<B>>) {
        if let Some(paid) = paid.take() {
            paid.spend();
        }
    }

    #[inline]
    fn credit(&self, call: &Call) {
        call.credit(&self.0);
    }
}
