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

// Its examples need the features.
#[cfg(all(feature = "plan", feature = "serde"))]
#[doc = include_str!("../docs/plans.md")]
pub mod plans {}

#[doc = include_str!("../docs/classification.md")]
pub mod classification {}

#[doc = include_str!("../docs/configuration.md")]
pub mod configuration {}

#[doc = include_str!("../docs/observing.md")]
pub mod observing {}

#[doc = include_str!("../docs/testing.md")]
pub mod testing {}
