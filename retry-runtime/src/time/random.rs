//! Randomness for jitter and call ids. No state is kept between draws, so a forked process draws different numbers from
//! its parent. Numbers are only drawn after a failure or for a call's id, so the cost does not matter.

#[cfg(feature = "std")]
use core::cell::RefCell;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::time::nanos;

#[cfg(feature = "std")]
std::thread_local! {
    /// The generator that a test has seeded.
    static SEEDED: RefCell<Option<SmallRng>> = const { RefCell::new(None) };
}

/// Sets this thread's generator; `None` means the system's. Returns the previous one.
#[cfg(feature = "std")]
pub(crate) fn replace(generator: Option<SmallRng>) -> Option<SmallRng> {
    SEEDED.replace(generator)
}

/// Draws from this thread's generator, if a test seeded it.
#[cfg(feature = "std")]
pub(crate) fn draw_seeded<T>(draw: impl FnOnce(&mut SmallRng) -> T) -> Option<T> {
    let drawn = SEEDED.try_with(|seeded| seeded.borrow_mut().as_mut().map(draw));
    drawn.ok()?
}

#[cfg(not(feature = "std"))]
fn draw_seeded<T>(_: impl FnOnce(&mut SmallRng) -> T) -> Option<T> {
    None
}

/// A random duration in the range, both ends included. If the range is empty, returns its end.
pub(crate) fn duration_in((low, high): (Duration, Duration)) -> Duration {
    let range = nanos(low)..=nanos(high);
    if low >= high || range.is_empty() {
        return high;
    }
    let draw =
        |generator: &mut SmallRng| Duration::from_nanos(generator.random_range(range.clone()));
    draw_seeded(draw).unwrap_or_else(|| draw(&mut from_system()))
}

/// A random call id. `None` if the system has no generator: the seed that jitter then uses could give several devices
/// the same id.
pub(crate) fn call_id() -> Option<u128> {
    id_from(system_random)
}

fn id_from(draw: impl Fn() -> Option<u64>) -> Option<u128> {
    let drawn = || Some(u128::from(draw()?) << 64 | u128::from(draw()?));
    draw_seeded(RngExt::random).or_else(drawn)
}

/// A generator seeded by the system's generator. If there is none, the seed is a counter combined with an address. Each
/// draw then still differs, so one device's delays are spread. Most processes differ, too, because systems load
/// programs at unpredictable addresses.
fn from_system() -> SmallRng {
    static DRAWS: AtomicU32 = AtomicU32::new(0);

    let seed = system_random().unwrap_or_else(|| {
        let draw = DRAWS.fetch_add(1, Ordering::Relaxed);
        u64::from(draw) << 32 ^ ptr::from_ref(&draw).addr() as u64
    });
    SmallRng::seed_from_u64(seed)
}

/// A random number from the standard library's hasher, whose keys come from the system's generator and differ each
/// time. A forked process has its parent's keys, but a different process id.
#[cfg(all(feature = "std", not(any(target_os = "none", target_os = "unknown"))))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there may be none")]
fn system_random() -> Option<u64> {
    use core::hash::BuildHasher as _;
    use std::hash::RandomState;

    // Other systems have no forks, and their `process::id` panics.
    let process = cfg!(any(unix, windows)).then(std::process::id);
    Some(RandomState::new().hash_one(process))
}

/// For bare metal and browsers, where the standard library has no randomness.
#[cfg(any(target_os = "none", target_os = "unknown"))]
fn system_random() -> Option<u64> {
    getrandom::u64().ok()
}

#[cfg(not(any(feature = "std", target_os = "none", target_os = "unknown")))]
fn system_random() -> Option<u64> {
    None
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_systems_or_a_tests() {
        let without = || None;
        assert_eq!(id_from(without), None);

        let before = replace(Some(SmallRng::seed_from_u64(1)));
        assert_ne!(id_from(without).unwrap(), id_from(without).unwrap());
        replace(before);
        assert_eq!(id_from(without), None);
    }
}
