//! The errors of other crates' clients, one file each.
//!
//! Their impls of `Classify` are `do_not_recommend`: named in an error message, they would hide what helps.

// `hyper`'s is the error that these clients hide.
#[cfg(any(
    feature = "hyper_util_0_1",
    feature = "reqwest_0_12",
    feature = "reqwest_0_13",
    feature = "tonic_0_14"
))]
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
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
mod status_alone;
#[cfg(feature = "tonic_0_14")]
pub(crate) mod tonic;
#[cfg(feature = "ureq_3")]
mod ureq;
