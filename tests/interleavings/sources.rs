//! The sources under test, by the paths that they know each other by.

pub(crate) mod sync;

pub(crate) mod admission;
pub(crate) mod breaker;
pub(crate) mod budget;
pub(crate) mod classify;
#[path = "../../retry-runtime/src/forward.rs"]
pub(crate) mod forward;
pub(crate) mod limiter;
#[path = "../../retry-runtime/src/listed.rs"]
pub(crate) mod listed;
pub(crate) mod observe;
#[path = "../../retry-runtime/src/out_of_range.rs"]
pub(crate) mod out_of_range;
pub(crate) mod time;
