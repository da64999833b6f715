//! Randomness for jitter and call ids: one small generator per thread, drawn from on failure only.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

thread_local! {
    static GENERATOR: RefCell<SmallRng> = RefCell::new(from_system());
}

/// A generator seeded with the operating system's entropy, by way of the standard library's hash keys.
fn from_system() -> SmallRng {
    let keys = RandomState::new();
    let mut seed = [0; 32];
    for (index, part) in seed.chunks_exact_mut(8).enumerate() {
        part.copy_from_slice(&keys.hash_one(index).to_ne_bytes());
    }
    SmallRng::from_seed(seed)
}

/// Puts a generator with that seed in this thread's place and returns the one that was there.
pub(crate) fn reseed(seed: u64) -> SmallRng {
    GENERATOR.replace(SmallRng::seed_from_u64(seed))
}

pub(crate) fn restore(generator: SmallRng) {
    GENERATOR.set(generator);
}

/// A duration from `low` to `high`, both included; `high` where `low` is not below it.
pub(crate) fn uniform(low: Duration, high: Duration) -> Duration {
    let range = nanos(low)..=nanos(high);
    if range.is_empty() {
        return high;
    }
    Duration::from_nanos(draw(range))
}

pub(crate) fn id() -> u128 {
    GENERATOR.with_borrow_mut(RngExt::random)
}

fn draw(range: RangeInclusive<u64>) -> u64 {
    GENERATOR.with_borrow_mut(|generator| generator.random_range(range))
}

/// Saturates after 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
