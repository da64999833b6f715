//! Numbers that an expression gives: the keys `max`, `repeats` and `factor`, and delays that a function computes.

use core::time::Duration;

use crate::policy::backoff::Backoff;

/// Integers that can be a number of retries: negative ones are none, too large ones unlimited.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a number of retries",
    label = "not an integer",
    note = "give an integer, or the word \"unlimited\""
)]
pub trait Count {
    fn count(self) -> u32;
}

macro_rules! count {
    ($($signed:ty)*; $($unsigned:ty)*) => {
        $(impl Count for $signed {
            fn count(self) -> u32 {
                u32::try_from(self.max(0)).unwrap_or(u32::MAX)
            }
        })*
        $(impl Count for $unsigned {
            fn count(self) -> u32 {
                u32::try_from(self).unwrap_or(u32::MAX)
            }
        })*
    };
}
count!(i8 i16 i32 i64 i128 isize; u8 u16 u32 u64 u128 usize);

/// For closures: the type of their argument is inferred from this bound alone.
pub fn delays<F: FnMut(u32) -> Duration>(delays: F) -> F {
    delays
}

/// What the key `backoff` takes as a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `Backoff`",
    label = "not a `Backoff`",
    note = "for a function from the retry's number to a `Duration`, write `backoff = |retry| delay(retry)`, or its path in two parts: `backoff = self::delay`"
)]
pub trait IntoBackoff {
    fn into_backoff(self) -> Backoff;
}

impl IntoBackoff for Backoff {
    #[inline]
    fn into_backoff(self) -> Backoff {
        self
    }
}

/// Numbers that can be a factor.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a factor",
    label = "not a number",
    note = "give a number from 1 up"
)]
pub trait Factor {
    fn factor(self) -> f64;
}

macro_rules! factor {
    ($($number:ty)*) => {$(
        impl Factor for $number {
            #[allow(clippy::cast_lossless, clippy::cast_precision_loss)]
            fn factor(self) -> f64 {
                self as f64
            }
        }
    )*};
}
factor!(f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
