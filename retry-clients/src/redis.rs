//! Budgets and quotas that processes share through Redis.
//!
// Link targets for the included page.
//! [contents]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/
//! [durable]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/durable/
//! [plans]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/plans/
//!
#![cfg_attr(all(doc, checkout), doc = include_str!("../../docs/fleets.md"))]
#![cfg_attr(all(doc, not(checkout)), doc = include_str!("../docs/fleets.md"))]

mod account;
mod fleet_budget;
mod fleet_quota;

pub use fleet_budget::FleetBudget;
pub use fleet_quota::FleetQuota;
