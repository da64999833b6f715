//! What jitter leaves of a delay.

use core::time::Duration;

use crate::word::Jitter;

/// The part of a delay that a jitter may take away, from 0 to 1. A jitter by a ratio takes that ratio.
pub const fn taken_by(jitter: Jitter) -> f64 {
    match jitter {
        Jitter::Full => 1.0,
        Jitter::Equal => 0.5,
        Jitter::Decorrelated | Jitter::None => 0.0,
    }
}

/// The shortest that a delay becomes where up to that part of it may be taken away.
pub fn shortest(delay: Duration, taken: f64) -> Duration {
    let taken = if taken < 1.0 {
        Duration::try_from_secs_f64(delay.as_secs_f64() * taken).unwrap_or(delay)
    } else {
        delay
    };
    delay.saturating_sub(taken)
}
