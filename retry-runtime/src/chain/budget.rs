use crate::budget::retry_budget::RetryBudget;
use crate::call::state::Call;
use crate::chain::key::{Named, Unnamed};
use crate::classify::kind::Kind;

/// What the retries of a chain are paid from, if its key `budget` names something.
pub trait MayPay {
    /// What was paid for: nothing, or a retry after a failure of that kind.
    type Retry: Send;

    fn payer(&self) -> Option<&dyn RetryBudget>;
    /// What was paid for where a retry follows such a failure.
    fn retry(kind: Option<Kind>) -> Self::Retry;
    /// What was paid for has begun.
    fn spend(retry: &mut Self::Retry);
    /// It never began.
    fn refund(&self, retry: &mut Self::Retry);
    /// The call succeeded.
    fn credit(&self, call: &Call);
}

impl MayPay for Unnamed {
    type Retry = ();

    #[inline]
    fn payer(&self) -> Option<&dyn RetryBudget> {
        None
    }

    #[inline]
    fn retry(_: Option<Kind>) {}

    #[inline]
    fn spend((): &mut ()) {}

    #[inline]
    fn refund(&self, (): &mut ()) {}

    #[inline]
    fn credit(&self, _: &Call) {}
}

impl<B: RetryBudget> MayPay for Named<B> {
    type Retry = Option<Kind>;

    fn payer(&self) -> Option<&dyn RetryBudget> {
        Some(&self.0)
    }

    fn retry(kind: Option<Kind>) -> Option<Kind> {
        kind
    }

    fn spend(retry: &mut Option<Kind>) {
        *retry = None;
    }

    fn refund(&self, retry: &mut Option<Kind>) {
        if let Some(kind) = retry.take() {
            self.0.refund(kind);
        }
    }

    #[inline]
    fn credit(&self, call: &Call) {
        call.credit(&self.0);
    }
}

/// What a chain paid for a retry, until that begins: dropped before, it goes back.
// Of no type that depends on a lifetime, in which the compiler would not find a future `Send`.
pub(crate) struct PaidFrom<'a, B: MayPay> {
    budget: &'a B,
    retry: B::Retry,
}

impl<'a, B: MayPay> PaidFrom<'a, B> {
    #[inline]
    pub(crate) fn new(budget: &'a B, kind: Option<Kind>) -> Self {
        let retry = B::retry(kind);
        Self { budget, retry }
    }

    /// The retry begins.
    #[inline]
    pub(crate) fn spend(mut self) {
        B::spend(&mut self.retry);
    }
}

impl<B: MayPay> Drop for PaidFrom<'_, B> {
    #[inline]
    fn drop(&mut self) {
        self.budget.refund(&mut self.retry);
    }
}
