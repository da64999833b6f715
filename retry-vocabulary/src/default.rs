//! What a policy's keys are where nobody names them, as far as the attribute checks literals against them.

use core::time::Duration;

/// Of the key `base`.
pub const BASE: Duration = Duration::from_secs(1);
/// Of the key `cap`. It clips no list of delays: who writes delays down wants them as written.
pub const CAP: Duration = Duration::from_secs(30);
/// Of the key `floor`.
pub const FLOOR: Duration = Duration::ZERO;
