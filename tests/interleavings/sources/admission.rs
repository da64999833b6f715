#[path = "../../../retry-runtime/src/admission/admission_control.rs"]
mod admission_control;
#[path = "../../../retry-runtime/src/admission/answer.rs"]
mod answer;
#[path = "../../../retry-runtime/src/admission/change.rs"]
pub(crate) mod change;
#[path = "../../../retry-runtime/src/admission/outcome.rs"]
pub(crate) mod outcome;
#[path = "../../../retry-runtime/src/admission/permit.rs"]
pub(crate) mod permit;
#[path = "../../../retry-runtime/src/admission/state.rs"]
pub(crate) mod state;

use std::time::Duration;

pub(crate) use admission_control::AdmissionControl;
pub(crate) use answer::Admission;

pub(crate) const ABSENT: Duration = Duration::from_secs(1);
pub(crate) const SOON: Duration = Duration::from_millis(20);
