//! Rate limiters and concurrency limiters.

pub(crate) mod adaptive;
mod aimd;
pub(crate) mod concurrency_limiter;
mod gate;
#[cfg(feature = "governor_0_10")]
mod governor;
pub(crate) mod leased;
mod queue;
mod queued;
pub(crate) mod quota;
pub(crate) mod rate_limiter;
mod remaining;
mod slow_start;
#[cfg(test)]
mod tests;
mod token_bucket;
pub(crate) mod work;
