//! The guide, a page for each question.

#[doc = include_str!("../docs/keys.md")]
pub mod keys {}

#[doc = include_str!("../docs/targets.md")]
pub mod targets {}

#[doc = include_str!("../docs/blocks.md")]
pub mod blocks {}

#[doc = include_str!("../docs/wrapping.md")]
pub mod wrapping {}
// Its examples need the feature.
#[cfg(feature = "stream")]
#[doc = include_str!("../docs/streams.md")]
pub mod streams {}

#[doc = include_str!("../docs/classification.md")]
pub mod classification {}

// Its examples are compiled in `retry-clients`.
#[cfg(not(doctest))]
#[doc = include_str!("../docs/clients.md")]
pub mod clients {}

#[doc = include_str!("../docs/configuration.md")]
pub mod configuration {}

#[doc = include_str!("../docs/observing.md")]
pub mod observing {}

#[doc = include_str!("../docs/testing.md")]
pub mod testing {}
