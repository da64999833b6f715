//! Delays after jitter.

use core::time::Duration;

use crate::word::Jitter;

/// The largest fraction by which the jitter shortens a delay, from 0 to 1. A jitter ratio is this fraction itself.
pub const fn max_reduction(jitter: Jitter) -> f64 {
    match jitter {
        Jitter::Full => 1.0,
        Jitter::Equal => 0.5,
        Jitter::Decorrelated | Jitter::None => 0.0,
    }
}

/// The shortest delay after a jitter that takes off at most the fraction `taken`.
pub fn shortest(delay: Duration, taken: f64) -> Duration {
    let taken = if taken < 1.0 {
        Duration::try_from_secs_f64(delay.as_secs_f64() * taken).unwrap_or(delay)
    } else {
        delay
    };
    delay.saturating_sub(taken)
}
