//! The trait of breakers and limiters, which admit the attempts of all calls that share them.

mod admission_control;
mod answer;
pub(crate) mod change;
pub(crate) mod outcome;
pub(crate) mod permit;
pub(crate) mod state;
pub(crate) mod with_cost;

pub use admission_control::AdmissionControl;
pub use answer::Admission;
