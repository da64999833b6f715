//! [`tokio-postgres`](https://docs.rs/tokio-postgres/0.7) 0.7, and [`postgres`](https://docs.rs/postgres/0.19) 0.19,
//! which has the same errors.
//!
//! ```
//! use retry_clients::tokio_postgres::classify;
//! use retry_runtime::retry;
//! use tokio_postgres::{Client, Config, Error, NoTls};
//!
//! #[retry(max = 5, base = "100ms", on = classify)]
//! async fn connect(config: &Config) -> Result<Client, Error> {
//!     let (client, connection) = config.connect(NoTls).await?;
//!     tokio::spawn(connection);
//!     Ok(client)
//! }
//! # let _ = connect;
//! ```
//!
//! A [`Client`](::tokio_postgres::Client) whose connection is closed stays closed. So retries of a function that sends
//! statements help only if the function takes its client from a pool, such as
//! [`deadpool`](https://docs.rs/deadpool-postgres) or [`bb8`](https://docs.rs/bb8-postgres), or connects itself.

use std::error::Error as _;

use ::tokio_postgres::Error;
use ::tokio_postgres::error::SqlState;
use retry_runtime::macro_support::{by_sqlstate, is_conflict};
use retry_runtime::{Classify, Verdict};

use crate::causes::BROKEN;

// These kinds of errors differ only in their texts.
const CONNECTING: &str = "error connecting to server";
const ENCRYPTING: &str = "error performing TLS handshake";
const COMMUNICATING: &str = "error communicating with the server";
/// The texts for `target_session_attrs` if no server has that role, for example during a failover.
const OTHER_ROLES: [&str; 2] = [
    "database does not allow writes",
    "database is not read only",
];

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | too many connections (53300), no connection (08001), the server is starting up or recovering (57P03), is read-only after a failover (25006), or had closed an idle session (57P05) | transient: nothing was done |
/// | connecting failed or timed out, or the server doesn't have the role from `target_session_attrs` | transient: nothing was sent |
/// | the server shut down (57P01) or crashed (57P02), the connection broke (08000, 08003, 08006, 08007) | transient, ambiguous |
/// | a broken or closed connection | transient, ambiguous |
/// | a serialization failure or a deadlock (40001, 40P01) | stop, except under [`transaction`] |
/// | constraints, wrong statements and types, a missing socket file, a rejected password or certificate, anything else | stop |
///
/// Source: PostgreSQL's manual, Appendix A, "PostgreSQL Error Codes".
pub fn classify(error: &Error) -> Verdict {
    match error.as_db_error() {
        Some(error) => by_sqlstate(error.code().code(), error.message()),
        None if error.is_closed() => BROKEN,
        None => cause_verdict(error),
    }
}

/// Like [`classify`], for a function that runs a whole transaction: after a conflict with another transaction (40001,
/// 40P01), the function is retried.
///
/// ```
/// use retry_clients::tokio_postgres::transaction;
/// use retry_runtime::retry;
/// use tokio_postgres::{Client, Error};
///
/// /// The whole transaction, from `BEGIN` to `COMMIT`.
/// #[retry(max = 5, base = "20ms", on = transaction)]
/// async fn transfer(client: &mut Client) -> Result<(), Error> {
///     let transaction = client.transaction().await?;
///     transaction.execute("UPDATE accounts SET amount = amount - 1", &[]).await?;
///     transaction.commit().await
/// }
/// # let _ = transfer;
/// ```
pub fn transaction(error: &Error) -> Verdict {
    match error.code().map(SqlState::code) {
        Some(state) if is_conflict(state) => Verdict::TRANSIENT,
        _ => classify(error),
    }
}

fn cause_verdict(error: &Error) -> Verdict {
    let Some(cause) = error.source() else {
        return Verdict::STOP;
    };
    let text = error.to_string();
    let is_of_connecting = text.starts_with(CONNECTING) || text.starts_with(ENCRYPTING);
    if is_of_connecting && OTHER_ROLES.contains(&cause.to_string().as_str()) {
        return Verdict::TRANSIENT;
    }
    let verdict = cause.classify();
    if !verdict.is_retryable() {
        Verdict::STOP
    } else if is_of_connecting {
        Verdict::TRANSIENT
    } else if text.starts_with(COMMUNICATING) {
        verdict.ambiguous()
    } else {
        Verdict::STOP
    }
}
