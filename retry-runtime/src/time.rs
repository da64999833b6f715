//! Clocks, sleeping, and randomness.

pub(crate) mod blocking_timer;
pub(crate) mod cancel;
pub(crate) mod clock;
pub(crate) mod default_timer;
pub(crate) mod moment;
pub(crate) mod race;
pub(crate) mod random;
pub(crate) mod skip;
pub(crate) mod timer;
