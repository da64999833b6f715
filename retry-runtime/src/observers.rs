//! Observers ready to name by the key `observe`: counts to read in the program, and adapters to what programs report
//! to, each behind a feature.
//!
//! | observer | feature | what it does |
//! |---|---|---|
//! | [`Stats`] | | counts calls, attempts, retries and reasons |

mod stats;
mod totals;

pub use stats::Stats;
pub use totals::Totals;
