use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::time::random;

/// Identifies one call across all its attempts: an idempotency key.
///
/// Displayed as a random UUID (version 4), the usual format of an `Idempotency-Key` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId([u32; 4]);

impl CallId {
    /// Creates a random id for your own loop, because a [`Call`](crate::own_loop::Call) has none. With `#[retry]`, use
    /// [`attempt.call_id()`](crate::Attempt::call_id). A forked process creates different ids from its parent.
    ///
    /// ```
    /// use retry_runtime::CallId;
    ///
    /// let id = CallId::random().expect("a generator");
    /// assert_eq!(id.to_string().len(), 36);
    /// assert_ne!(CallId::random(), Some(id));
    /// ```
    ///
    /// `None` if the system has no random number generator, because several devices could then create the same id.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "each is cut to its own bits"
    )]
    pub fn random() -> Option<Self> {
        const VERSION: u128 = 0xf << 76;
        const VARIANT: u128 = 0b11 << 62;
        let id = random::call_id()?;
        let id = id & !VERSION & !VARIANT | 0x4 << 76 | 0b10 << 62;
        Some(Self([96, 64, 32, 0].map(|shift| (id >> shift) as u32)))
    }

    /// The id as a number.
    pub const fn as_u128(self) -> u128 {
        let [first, second, third, fourth] = self.0;
        (first as u128) << 96 | (second as u128) << 64 | (third as u128) << 32 | fourth as u128
    }
}

/// The id of a call, drawn on first use.
///
/// Stored in four parts. Each part keeps its first value, so that all threads see the same id without a lock.
#[derive(Debug, Default)]
pub(crate) struct LazyCallId([AtomicU32; 4]);

impl LazyCallId {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU32::new(NOT_DRAWN) }; 4])
    }

    /// Panics if there is no random number generator.
    pub(crate) fn get(&self) -> CallId {
        self.try_get()
            .expect("a call id needs random numbers, and this system has no source of them: enable the feature `std`, or on bare metal a backend of getrandom")
    }

    /// Returns this id for a copy of the call. Without a random number generator, neither has an id.
    pub(crate) fn share(&self) -> Self {
        self.try_get()
            .map_or_else(Self::new, |CallId(parts)| Self(parts.map(AtomicU32::new)))
    }

    fn try_get(&self) -> Option<CallId> {
        let known = self.0.each_ref().map(|part| part.load(Relaxed));
        if known.contains(&NOT_DRAWN) {
            return self.draw();
        }
        Some(CallId(known))
    }

    #[cold]
    fn draw(&self) -> Option<CallId> {
        let mut parts = CallId::random()?.0;
        for (part, kept) in parts.iter_mut().zip(&self.0) {
            *part = (*part).max(NOT_DRAWN + 1);
            if let Err(known) = kept.compare_exchange(NOT_DRAWN, *part, Relaxed, Relaxed) {
                *part = known;
            }
        }
        Some(CallId(parts))
    }
}

const NOT_DRAWN: u32 = 0;

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third, fourth] = self.0;
        let [two, three, four, five] =
            [second >> 16, second, third >> 16, third].map(|part| part & 0xffff);
        write!(
            f,
            "{first:08x}-{two:04x}-{three:04x}-{four:04x}-{five:04x}{fourth:08x}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_draw_returns_the_stored_id() {
        let drawn = LazyCallId::new();
        let first = drawn.get();
        assert_eq!((drawn.draw(), drawn.get()), (Some(first), first));
        assert_eq!(drawn.share().get(), first);
    }
}
