//! The history of a call: its id, and its attempts with their errors.

pub(crate) mod attempt;
pub(crate) mod call_id;
pub(crate) mod errors;
pub(crate) mod gave_up;

pub use attempt::{Attempt, Draft};
pub use call_id::CallId;
pub use gave_up::{FailedAttempt, GaveUp, Taken};
