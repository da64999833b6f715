//! Defaults of a policy's keys, as far as the attribute checks literals against them.

use core::time::Duration;

/// The default of the key `max`.
pub const MAX: u32 = 3;
/// The default of the key `base`.
pub const BASE: Duration = Duration::from_secs(1);
/// The default of the key `cap`. It clips no list of delays: whoever writes delays down wants them as written.
pub const CAP: Duration = Duration::from_secs(30);
/// The default of the key `floor`.
pub const FLOOR: Duration = Duration::ZERO;
