//! What admits attempts: breakers and limiters, which calls share.

mod admission_control;
mod answer;
pub(crate) mod change;
pub(crate) mod outcome;
pub(crate) mod permit;
pub(crate) mod state;

use core::time::Duration;

pub use admission_control::AdmissionControl;
pub use answer::Admission;

/// The time after which it is worthwhile to ask again, if a success may admit an attempt at any time. So no call is
/// rejected for a wait that is no longer.
pub(crate) const SOON: Duration = Duration::from_millis(20);

/// An attempt that asks that much too late is passed by those behind it, and keeps its position.
pub(crate) const ABSENT: Duration = Duration::from_secs(1);
