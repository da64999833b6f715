//! The key `budget`.

use crate::budget::retry_budget::{RetryBudget, forward};
use crate::classify::kind::Kind;

/// What pays for retries. It is a budget for every `B`, so that an error about the bound appears once, where the
/// expression is written.
#[derive(Debug)]
pub struct Payer<B> {
    budget: B,
    as_budget: fn(&B) -> &dyn RetryBudget,
}

impl<B> Payer<B> {
    fn budget(&self) -> &dyn RetryBudget {
        (self.as_budget)(&self.budget)
    }
}

forward!([B] Payer<B>: Self::budget;);

#[inline]
pub fn budget<B: RetryBudget>(budget: B) -> Payer<B> {
    Payer { budget, as_budget }
}

fn as_budget<B: RetryBudget>(budget: &B) -> &dyn RetryBudget {
    budget
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
