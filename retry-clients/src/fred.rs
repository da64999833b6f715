//! [`fred`](https://docs.rs/fred/10) 10.
//!
//! ```
//! use fred::prelude::{Builder, Client, Config, Error, KeysInterface, ReconnectPolicy};
//! use retry_clients::fred::{classify, without_retries};
//! use retry_runtime::retry;
//!
//! struct Cache(Client);
//!
//! impl Cache {
//!     /// The client itself reconnects, but doesn't resend commands.
//!     fn new(config: Config) -> Result<Self, Error> {
//!         let mut builder = Builder::from_config(config);
//!         builder.set_policy(ReconnectPolicy::new_constant(0, 100));
//!         builder.with_connection_config(without_retries);
//!         Ok(Self(builder.build()?))
//!     }
//!
//!     #[retry(max = 5, base = "50ms", on = classify)]
//!     async fn visits(&self) -> Result<u64, Error> {
//!         self.0.get("visits").await
//!     }
//! }
//! # let _ = (Cache::new, Cache::visits);
//! ```

use ::fred::error::{Error, ErrorKind};
use ::fred::types::config::ConnectionConfig;
use retry_runtime::Verdict;
use retry_runtime::macro_support::redis_refused;

use crate::causes::BROKEN;

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | the server is loading, asks to try again, is read-only, or lacks its master or cluster | transient: the command was not executed |
/// | no connection; a cluster that is not ready; no node or sentinel for the command, or the wrong one | transient: nothing was done |
/// | a broken connection, a command that was cancelled because of a broken connection, too many failed writes | transient, ambiguous |
/// | no response in time | timeout |
/// | more commands in flight than the client allows | throttled: nothing was sent |
/// | a wrong password, an untrusted certificate, wrong commands, arguments and types, `MOVED`, unreadable responses, missing values, a wrong configuration, anything else | stop |
///
/// This client keeps only the text of an I/O error, so the verdict depends on the text. A blocking command that finds
/// nothing in time is a timeout, too.
///
/// The error of a command in a pipeline looks like the error of a single command, although other commands may have run
/// before it. If that matters, add `.ambiguous()` to the returned verdict.
pub fn classify(error: &Error) -> Verdict {
    let text = error.details();
    let (code, detail) = text.split_once(' ').unwrap_or((text, ""));
    match error.kind() {
        ErrorKind::IO if text.contains("ConnectionRefused") => Verdict::TRANSIENT,
        ErrorKind::IO if text.contains("InvalidCertificate") => Verdict::STOP,
        // Cancelled by `fail_fast` before it was sent.
        ErrorKind::Canceled if text == "Connection closed unexpectedly." => Verdict::TRANSIENT,
        ErrorKind::IO | ErrorKind::Canceled => BROKEN,
        ErrorKind::Timeout => Verdict::TIMEOUT,
        ErrorKind::Backpressure => Verdict::THROTTLED,
        ErrorKind::Routing | ErrorKind::Sentinel => Verdict::TRANSIENT,
        // The error kind depends on the client's features.
        ErrorKind::Unknown if text == "Failed to route command." => Verdict::TRANSIENT,
        ErrorKind::Unknown
            if text == "Too many failed write attempts." || text == "Max attempts exceeded" =>
        {
            BROKEN
        }
        // Occurs while connecting: nodes that were just started need a moment to find each other.
        ErrorKind::Protocol if text == "Invalid or missing cluster state." => Verdict::TRANSIENT,
        // The connection of a transaction broke before its response arrived.
        ErrorKind::Protocol if text == "Unexpected empty frame received." => BROKEN,
        _ if redis_refused(code, detail) => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    }
}

/// Configures a client to send each command once per call, also in a cluster. By default it sends a command up to three
/// times if the connection breaks.
///
/// In a cluster, a redirection ends an attempt, too. After `MOVED`, the client has the slot's new node, and the next
/// attempt uses that node. While a slot moves, commands for a key that is no longer on the old node fail with `ASK`,
/// until the whole slot has moved. This client can't follow `ASK`: without this setting it sends the command to the old
/// node again, and once its attempts are used up, it never completes any command again.
///
/// Don't use it for transactions: if the connection breaks, this client resends the commands from `MULTI` to `EXEC` in
/// any configuration, even if the first transaction may have taken effect. In a cluster, a transaction whose slot has
/// moved ends with "Max redirections exceeded", which stops, and the client doesn't update the slot's node. Use a
/// separate client for transactions. Scripts run only once.
pub fn without_retries(config: &mut ConnectionConfig) {
    config.max_command_attempts = 1;
    config.max_redirections = 0;
}
