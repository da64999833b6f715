//! The key `budget`.

use crate::budget::retry_budget::RetryBudget;
use crate::classify::kind::Kind;

/// What pays for retries. It is a budget for every `B`, so that an error about the bound appears once, where the
/// expression is written.
#[derive(Debug)]
pub struct Payer<B> {
    budget: B,
    withdraw: fn(&B, Kind) -> bool,
    refund: fn(&B, Kind),
    called: fn(&B),
    succeeded: fn(&B, Option<Kind>),
    succeeded_at_once: fn(&B),
    answered: fn(&B, Option<Kind>),
    failed: fn(&B, Kind),
}

impl<B> RetryBudget for Payer<B> {
    fn withdraw(&self, kind: Kind) -> bool {
        (self.withdraw)(&self.budget, kind)
    }

    fn refund(&self, kind: Kind) {
        (self.refund)(&self.budget, kind);
    }

    #[inline]
    fn called(&self) {
        (self.called)(&self.budget);
    }

    #[inline]
    fn succeeded(&self, retried: Option<Kind>) {
        (self.succeeded)(&self.budget, retried);
    }

    #[inline]
    fn succeeded_at_once(&self) {
        (self.succeeded_at_once)(&self.budget);
    }

    fn answered(&self, retried: Option<Kind>) {
        (self.answered)(&self.budget, retried);
    }

    fn failed(&self, kind: Kind) {
        (self.failed)(&self.budget, kind);
    }
}

#[inline]
pub fn budget<B: RetryBudget>(budget: B) -> Payer<B> {
    Payer {
        budget,
        withdraw: B::withdraw,
        refund: B::refund,
        called: B::called,
        succeeded: B::succeeded,
        succeeded_at_once: B::succeeded_at_once,
        answered: B::answered,
        failed: B::failed,
    }
}

#[cfg(feature = "std")]
pub use self::budget as own_budget;

#[cfg(not(feature = "std"))]
pub use self::of_no_function::{NoBudget, own_budget};

/// Says that there is no budget of a function's own.
#[cfg(not(feature = "std"))]
mod of_no_function {
    use super::{Payer, RetryBudget, budget};

    /// Stands for it.
    #[derive(Debug)]
    pub struct NoBudget;

    impl NoBudget {
        pub const fn standard() -> Self {
            Self
        }
    }

    #[diagnostic::on_unimplemented(
        message = "`budget` alone needs the feature `std` of `retry-runtime`",
        label = "without it, a function has no budget of its own",
        note = "enable the feature, or name a budget: `budget = &BUDGET`, of a type that implements `retry_runtime::RetryBudget`"
    )]
    pub trait OwnBudget: RetryBudget {}

    pub fn own_budget<B: OwnBudget>(own: B) -> Payer<B> {
        budget(own)
    }
}
