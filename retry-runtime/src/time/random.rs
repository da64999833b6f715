//! Randomness for jitter and call ids: the system's generator, asked anew for every draw. So a process that forks shares
//! nothing with its child, and no two browser pages draw the same. Draws follow failures only, which can afford it.

use core::cell::RefCell;
use core::hash::BuildHasher;
use core::time::Duration;
use std::hash::RandomState;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

thread_local! {
    /// The generator of a test that seeded it.
    static SEEDED: RefCell<Option<SmallRng>> = const { RefCell::new(None) };
}

pub(crate) fn seeded(seed: u64) -> SmallRng {
    SmallRng::seed_from_u64(seed)
}

/// A generator seeded by that one.
pub(crate) fn forked(generator: &mut SmallRng) -> SmallRng {
    SmallRng::from_rng(generator)
}

/// One seeded by this thread's, if that is seeded.
pub(crate) fn fork() -> Option<SmallRng> {
    SEEDED.with_borrow_mut(|seeded| seeded.as_mut().map(forked))
}

/// Puts that generator, or else the system's, in force on this thread. Returns the one that was.
pub(crate) fn replace(generator: Option<SmallRng>) -> Option<SmallRng> {
    SEEDED.replace(generator)
}

/// A duration in that range, both ends included; the end of the range if it is empty.
pub(crate) fn between((low, high): (Duration, Duration)) -> Duration {
    let range = nanos(low)..=nanos(high);
    if low >= high || range.is_empty() {
        return high;
    }
    Duration::from_nanos(draw(|generator| generator.random_range(range)))
}

pub(crate) fn id() -> u128 {
    draw(RngExt::random)
}

fn draw<T>(draw: impl FnOnce(&mut SmallRng) -> T) -> T {
    SEEDED.with_borrow_mut(|seeded| match seeded {
        Some(generator) => draw(generator),
        None => draw(&mut from_system()),
    })
}

fn from_system() -> SmallRng {
    let mut seed = [0; 32];
    // A system without a generator is no reason to fail: the standard library's hash keys are random enough for jitter.
    if getrandom::fill(&mut seed).is_err() {
        let keys = RandomState::new();
        for (index, part) in seed.chunks_exact_mut(8).enumerate() {
            part.copy_from_slice(&keys.hash_one(index).to_ne_bytes());
        }
    }
    SmallRng::from_seed(seed)
}

/// Saturates after 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
