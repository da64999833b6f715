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

pub(crate) use call_id::CallId;
pub(crate) use decide::Decision;
pub(crate) use driver::Driver;
pub(crate) use failure::{Ending, Failure};
pub(crate) use gave_up::GaveUp;
pub(crate) use next_attempt::NextAttempt;
pub(crate) use protections::{BorrowedProtections, ProtectionRefs, Protects};
pub(crate) use reporter::Reporter;
pub(crate) use site::{Name, Site};
pub(crate) use state::Call;
pub(crate) use stop::{Caused, HookOutcome, Stop};
