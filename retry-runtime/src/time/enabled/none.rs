//! No default timer: each call sets its own.

use core::future::{Pending, pending};
use core::time::Duration;
#[cfg(feature = "std")]
pub(crate) use std::time::Instant;

use crate::time::enabled::HasTimer;
pub(crate) use crate::time::enabled::wake::GiveWay;
pub use crate::time::enabled::wake::give_way;

#[cfg(feature = "std")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// Never called. Its bound fails, with a helpful error.
pub fn sleep(_: Duration, _: impl HasTimer) -> Pending<()> {
    pending()
}

/// Never called either.
pub fn expect_timer() {}
