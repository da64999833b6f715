//! What admits attempts: breakers and limiters, which calls share.

mod admission_control;
mod answer;
pub(crate) mod change;
pub(crate) mod outcome;
pub(crate) mod permit;
pub(crate) mod state;
pub(crate) mod with_cost;

pub use admission_control::AdmissionControl;
pub use answer::Admission;
