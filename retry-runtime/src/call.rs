//! The core: the state of a call, the decision after a failure, the steps around each attempt, and the report when a
//! call gives up. Only the driver waits, with the call's own timer.

pub(crate) mod decide;
pub(crate) mod driver;
pub(crate) mod failure;
pub(crate) mod next_attempt;
pub(crate) mod protections;
pub(crate) mod reporter;
pub(crate) mod reports;
#[cfg(feature = "serde")]
mod saved;
pub(crate) mod state;
pub(crate) mod steps;
pub(crate) mod stop;
mod waiting;

pub(crate) use decide::Decision;
pub use decide::refusal;
pub use driver::{Driver, time_left};
pub use failure::{Ending, Failure, REJECTED_VALUE};
pub use next_attempt::NextAttempt;
pub(crate) use protections::BorrowedProtections;
pub use protections::{ProtectionRefs, Protections, Protects};
pub use reporter::Reporter;
pub use reports::WithHint;
pub use state::Call;
pub use stop::Stop;
pub(crate) use stop::{HookOutcome, WithCause};
