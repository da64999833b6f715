//! The default timer and clock of async calls, and the yield of all async calls: a page's, tokio's, or neither,
//! selected by features and target. All three files define the same items.

#[cfg(all(feature = "browser", target_family = "wasm", target_os = "unknown"))]
#[path = "enabled/page.rs"]
mod here;
#[cfg(all(
    feature = "tokio",
    not(all(feature = "browser", target_family = "wasm", target_os = "unknown"))
))]
#[path = "enabled/tokio.rs"]
mod here;
#[cfg(not(any(
    feature = "tokio",
    all(feature = "browser", target_family = "wasm", target_os = "unknown")
)))]
#[path = "enabled/none.rs"]
mod here;
#[cfg(not(all(feature = "browser", target_family = "wasm", target_os = "unknown")))]
mod wake;

pub(crate) use self::here::GiveWay;
#[cfg(feature = "std")]
pub(crate) use self::here::{Instant, instant};
pub use self::here::{expect_timer, give_way, sleep};
use crate::time::timer::Timer;

/// Implemented if a feature provides a timer.
#[diagnostic::on_unimplemented(
    message = "an async function under `#[retry]` needs a timer, and no feature provides one",
    label = "no timer",
    note = "enable the feature `tokio` of `retry-runtime`, `browser` in a browser, or set another runtime's timer with `timer = …`"
)]
pub trait HasTimer {
    /// The timer that the features provide.
    type Timer: Timer + Default;
}

/// The enabled features.
pub struct Features;

/// Returns the timer that the features provide.
pub fn default_timer<F: HasTimer>() -> F::Timer {
    F::Timer::default()
}
