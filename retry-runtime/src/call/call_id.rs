use core::fmt;

use crate::time::random;

/// Identifies one call across all its attempts: an idempotency key.
///
/// Printed it is a random UUID (version 4), as servers that take an `Idempotency-Key` header like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(u128);

impl CallId {
    pub(crate) fn random() -> Self {
        const VERSION: u128 = 0xf << 76;
        const VARIANT: u128 = 0b11 << 62;
        Self(random::id() & !VERSION & !VARIANT | 0x4 << 76 | 0b10 << 62)
    }

    /// The 128 bits.
    pub const fn as_u128(self) -> u128 {
        self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.0;
        let field = |shift: u32, digits: u32| id >> shift & ((1 << (4 * digits)) - 1);
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            field(96, 8),
            field(80, 4),
            field(64, 4),
            field(48, 4),
            field(0, 12)
        )
    }
}
