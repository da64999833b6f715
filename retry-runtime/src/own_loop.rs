//! The parts of a loop of your own: [`Attempts`] drives it, and [`Call`] decides without waiting.
//!
//! The [guide](crate::guide::own_loop) shows loops with each.

pub use crate::call::failure::Failure;
pub use crate::call::next_attempt::NextAttempt;
pub use crate::call::own_loop::Attempts;
pub use crate::call::protections::{ProtectionRefs, Protections, Protects};
pub use crate::call::site::Site;
pub use crate::call::state::Call;
