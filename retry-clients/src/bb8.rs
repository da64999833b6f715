//! Pools of [`bb8`](https://docs.rs/bb8/0.9) 0.9, for connections of any type.
//!
// The example needs the feature `tokio_postgres`.
#![cfg_attr(feature = "tokio_postgres", doc = "```")]
#![cfg_attr(not(feature = "tokio_postgres"), doc = "```ignore")]
//! use std::time::Duration;
//! use bb8_postgres::PostgresConnectionManager as Manager;
//! use bb8::{Builder, Pool, RunError};
//! use retry_clients::bb8::pooled;
//! use retry_clients::tokio_postgres::classify;
//! use retry_runtime::retry;
//! use tokio_postgres::{Error, NoTls};
//!
//! #[retry(max = 5, base = "100ms", on = pooled(classify))]
//! async fn users(pool: &Pool<Manager<NoTls>>) -> Result<i64, RunError<Error>> {
//!     let row = pool.get().await?.query_one("SELECT count(*) FROM users", &[]).await?;
//!     Ok(row.try_get(0)?)
//! }
//!
//! /// By default, a pool tries to connect for 30 seconds.
//! fn patient_for_a_second() -> Builder<Manager<NoTls>> {
//!     Pool::builder().connection_timeout(Duration::from_secs(1))
//! }
//! # let _ = (users, patient_for_a_second);
//! ```
//!
//! A pool doesn't report why it could not connect: for any cause, even a wrong password, `get` returns `TimedOut`.

use ::bb8::RunError;
use retry_runtime::Verdict;

/// Converts a function for the client's errors to a function for `on`. If the errors implement
/// [`Classify`](retry_runtime::Classify), use `pooled(Classify::classify)`.
///
/// | failure | verdict |
/// |---|---|
/// | no connection was free or created in time | transient: nothing was sent |
/// | an error of the client while the function used the connection | by the client's function |
pub fn pooled<E, V: Into<Verdict>>(on: impl Fn(&E) -> V) -> impl Fn(&RunError<E>) -> Verdict {
    move |error| match error {
        RunError::TimedOut => Verdict::TRANSIENT,
        RunError::User(error) => on(error).into(),
    }
}
