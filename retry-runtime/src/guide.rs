//! The guide, a page for each question.

#[doc = include_str!("../docs/keys.md")]
pub mod keys {}

#[doc = include_str!("../docs/targets.md")]
pub mod targets {}

#[doc = include_str!("../docs/blocks.md")]
pub mod blocks {}

#[doc = include_str!("../docs/wrapping.md")]
pub mod wrapping {}

// Other pages link to these, whose examples need the features.
#[cfg_attr(feature = "stream", doc = include_str!("../docs/streams.md"))]
#[cfg_attr(not(feature = "stream"), doc = "Needs the feature `stream`.")]
pub mod streams {}

#[cfg_attr(feature = "batch", doc = include_str!("../docs/batches.md"))]
#[cfg_attr(not(feature = "batch"), doc = "Needs the feature `batch`.")]
pub mod batches {}

#[cfg_attr(all(feature = "plan", feature = "serde"), doc = include_str!("../docs/plans.md"))]
#[cfg_attr(
    not(all(feature = "plan", feature = "serde")),
    doc = "Needs the features `plan` and `serde`."
)]
pub mod plans {}

#[doc = include_str!("../docs/validation.md")]
pub mod validation {}

#[doc = include_str!("../docs/teams.md")]
pub mod teams {}

#[doc = include_str!("../docs/classification.md")]
pub mod classification {}

// Its examples are compiled in `retry-clients`.
#[cfg(not(doctest))]
#[doc = "[built-in clients]: crate::guide::built_in_clients\n"]
#[doc = include_str!("../docs/clients.md")]
pub mod clients {}

#[doc = include_str!("../docs/built_in_clients.md")]
pub mod built_in_clients {}

#[doc = include_str!("../docs/configuration.md")]
pub mod configuration {}

#[doc = include_str!("../docs/observing.md")]
pub mod observing {}

#[doc = include_str!("../docs/testing.md")]
pub mod testing {}
