//! The key `budget`.

pub use crate::budget::payer::budget;

#[cfg(feature = "std")]
pub use self::budget as own_budget;

#[cfg(not(feature = "std"))]
pub use self::of_no_function::{NoBudget, own_budget};

/// Says that there is no budget of a function's own.
#[cfg(not(feature = "std"))]
mod of_no_function {
    use super::budget;
    use crate::budget::payer::Payer;
    use crate::budget::retry_budget::RetryBudget;

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
