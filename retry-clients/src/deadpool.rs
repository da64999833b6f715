//! Pools of [`deadpool`](https://docs.rs/deadpool/0.13) 0.13, for objects of any type.
//!
// The example needs the feature `tokio_postgres`.
#![cfg_attr(feature = "tokio_postgres", doc = "```")]
#![cfg_attr(not(feature = "tokio_postgres"), doc = "```ignore")]
//! use deadpool_postgres::{Pool, PoolError};
//! use retry_clients::deadpool::pooled;
//! use retry_clients::tokio_postgres::classify;
//! use retry_runtime::retry;
//!
//! #[retry(max = 5, base = "100ms", on = pooled(classify))]
//! async fn users(pool: &Pool) -> Result<i64, PoolError> {
//!     let row = pool.get().await?.query_one("SELECT count(*) FROM users", &[]).await?;
//!     Ok(row.try_get(0)?)
//! }
//! # let _ = users;
//! ```
//!
//! Each attempt takes a connection from the pool, which replaces broken connections. The pool itself doesn't retry.

use ::deadpool::managed::{HookError, PoolError};
use retry_runtime::Verdict;

/// Converts a function for the client's errors to a function for `on`. If the errors implement
/// [`Classify`](retry_runtime::Classify), use `pooled(Classify::classify)`.
///
/// | failure | verdict |
/// |---|---|
/// | no connection was free or created in time | transient: nothing was sent |
/// | an error of the client while connecting, in a hook, or while the function used the connection | by the client's function |
/// | a closed pool, a missing runtime, a hook's message | stop |
pub fn pooled<E, V: Into<Verdict>>(on: impl Fn(&E) -> V) -> impl Fn(&PoolError<E>) -> Verdict {
    move |error| match error {
        PoolError::Timeout(_) => Verdict::TRANSIENT,
        PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
            on(error).into()
        }
        PoolError::PostCreateHook(HookError::Message(_))
        | PoolError::Closed
        | PoolError::NoRuntimeSpecified => Verdict::STOP,
    }
}
