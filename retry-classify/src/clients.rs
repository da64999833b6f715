//! The errors of client libraries, one file per library.
//!
//! Their `Classify` impls are `do_not_recommend`: a compile error that listed the impls would bury its useful part.

// For clients that wrap hyper's errors.
#[cfg(feature = "hyper")]
pub(crate) mod connection;
pub(crate) mod databases;
#[cfg(feature = "hyper_util_0_1")]
mod hyper;
#[cfg(feature = "redis_1")]
mod redis;
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13"))]
mod reqwest;
#[cfg(feature = "sqlx_0_9")]
pub(crate) mod sqlx;
#[cfg(feature = "tonic_0_14")]
pub(crate) mod tonic;
#[cfg(feature = "ureq_3")]
mod ureq;
