//! The sources under test, at the paths by which they import each other.

pub(crate) mod clock;
pub(crate) mod sync;

pub(crate) mod breaker;
pub(crate) mod budget;
pub(crate) mod classify;
#[path = "../../retry-protections/src/keyed.rs"]
pub(crate) mod keyed;
pub(crate) mod limiter;
#[path = "../../retry-protections/src/line.rs"]
pub(crate) mod line;
#[path = "../../retry-protections/src/out_of_range.rs"]
pub(crate) mod out_of_range;

pub(crate) mod time {
    pub(crate) use retry_runtime::seam::Moment;

    pub(crate) use super::clock;
}
