//! The queue of all limiters, and rates behind it.

#[path = "../../../retry-protections/src/limiter/adaptive.rs"]
mod adaptive;
#[path = "../../../retry-protections/src/limiter/aimd.rs"]
mod aimd;
#[path = "../../../retry-protections/src/limiter/concurrency_limiter.rs"]
mod concurrency_limiter;
#[path = "../../../retry-protections/src/limiter/gate.rs"]
pub(crate) mod gate;
#[path = "../../../retry-protections/src/limiter/queue.rs"]
pub(crate) mod queue;
#[path = "../../../retry-protections/src/limiter/queued.rs"]
mod queued;
#[path = "../../../retry-protections/src/limiter/quota.rs"]
pub(crate) mod quota;
#[path = "../../../retry-protections/src/limiter/rate_limiter.rs"]
pub(crate) mod rate_limiter;
#[path = "../../../retry-protections/src/limiter/remaining.rs"]
mod remaining;
#[path = "../../../retry-protections/src/limiter/slow_start.rs"]
mod slow_start;
#[path = "../../../retry-protections/src/limiter/token_bucket.rs"]
mod token_bucket;
