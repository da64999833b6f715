//! Defaults of a policy's keys, against which the attribute checks literals.

use core::time::Duration;

/// The default of the key `max`.
pub const MAX: u32 = 3;
/// The default of the key `base`.
pub const BASE: Duration = Duration::from_secs(1);
/// The default of the key `cap`. It doesn't apply to a list of delays, which is used as written.
pub const CAP: Duration = Duration::from_secs(30);
/// The default of the key `floor`.
pub const FLOOR: Duration = Duration::ZERO;
