//! The core: the state of a call, the decision after a failure, the steps around each attempt, and the report when a
//! call gives up. Only the driver waits, with the call's own timer.

pub(crate) mod attempt;
pub(crate) mod attempted;
pub(crate) mod call_id;
pub(crate) mod decide;
pub(crate) mod driver;
pub(crate) mod errors;
pub(crate) mod failure;
pub(crate) mod gave_up;
#[cfg(feature = "nested")]
pub(crate) mod nested;
pub(crate) mod next_attempt;
pub(crate) mod own_loop;
pub(crate) mod protections;
pub(crate) mod reporter;
pub(crate) mod reports;
#[cfg(feature = "serde")]
mod saved;
pub(crate) mod site;
#[cfg(feature = "std")]
pub(crate) mod sites;
pub(crate) mod state;
mod steps;
pub(crate) mod stop;
mod waiting;

pub use attempt::{Attempt, Draft};
pub use attempted::{attempt_within, run_within};
pub use call_id::CallId;
pub(crate) use decide::Decision;
pub use decide::refused;
pub use driver::{Driver, time_left};
pub use failure::{Ending, Failure, REJECTED_VALUE};
pub use gave_up::{FailedAttempt, GaveUp, Taken};
pub use next_attempt::NextAttempt;
pub use own_loop::Attempts;
pub(crate) use protections::BorrowedProtections;
pub use protections::{ProtectionRefs, Protections, Protects};
pub use reporter::Reporter;
pub use reports::WithHint;
pub(crate) use site::Name;
pub use site::Site;
pub use state::Call;
pub use stop::Stop;
pub(crate) use stop::{Caused, HookOutcome};
