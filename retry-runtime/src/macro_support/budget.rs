//! The key `budget` without a value: the budget of a function's own.

#[cfg(feature = "std")]
pub use self::of_function::own_budget;
#[cfg(not(feature = "std"))]
pub use self::of_no_function::{NoBudget, own_budget};

#[cfg(feature = "std")]
mod of_function {
    use crate::budget::bucket::Budget;

    #[inline]
    pub fn own_budget(own: &'static Budget) -> &'static Budget {
        own
    }
}

/// Says that there is none.
#[cfg(not(feature = "std"))]
mod of_no_function {
    use crate::budget::retry_budget::RetryBudget;
    use crate::classify::kind::Kind;

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
    pub trait OwnBudget {}

    // So that its absence is one error.
    impl RetryBudget for NoBudget {
        fn withdraw(&self, _: Kind) -> bool {
            false
        }

        fn refund(&self, _: Kind) {}
    }

    pub fn own_budget<B: OwnBudget>(own: B) -> B {
        own
    }
}
