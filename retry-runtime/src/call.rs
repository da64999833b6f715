//! The core: what a call has been through, what follows a failure, and what is handed out at its end. No clock, no
//! sleeping, no runtime.

pub(crate) mod attempt;
pub(crate) mod attempted;
pub(crate) mod attempts;
pub(crate) mod call_id;
pub(crate) mod decide;
pub(crate) mod errors;
pub(crate) mod failed_attempt;
pub(crate) mod failure;
pub(crate) mod gave_up;
#[cfg(feature = "serde")]
mod gave_up_report;
mod hedge;
pub(crate) mod hook;
pub(crate) mod late;
#[cfg(feature = "nested")]
pub(crate) mod nested;
pub(crate) mod next_attempt;
pub(crate) mod note;
pub(crate) mod protections;
pub(crate) mod rejection;
mod reports;
#[cfg(feature = "serde")]
mod saved;
pub(crate) mod site;
#[cfg(feature = "std")]
pub(crate) mod sites;
pub(crate) mod state;
mod tell_protections;
pub(crate) mod with_hint;
