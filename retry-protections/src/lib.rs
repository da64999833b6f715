// On docs.rs, each item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

mod breaker;
mod clock;
mod keyed;
mod latency;
mod limiter;
mod line;
mod out_of_range;

pub(crate) use retry_runtime::macro_support::sync;

pub use breaker::circuit::Breaker;
pub use keyed::Keyed;
pub use latency::{Latency, Quantile};
pub use limiter::adaptive::Adaptive;
pub use limiter::concurrency_limiter::ConcurrencyLimiter;
pub use limiter::leased::Leased;
pub use limiter::quota::Quota;
pub use limiter::rate_limiter::RateLimiter;
pub use limiter::work::{DetachedWork, DetachedWorkGuard};
pub use out_of_range::OutOfRange;
