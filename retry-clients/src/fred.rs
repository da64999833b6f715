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
//!     /// Connections are made again by the client itself, commands are not sent again.
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

/// Which failures are worth a retry.
///
/// | failure | verdict |
/// |---|---|
/// | the server is loading, asks to try again, is read-only, or lacks its master or cluster | transient: it has done nothing for that command |
/// | no connection; a cluster that is not ready; no node or sentinel for the command, or another one than was asked | transient: nothing was done |
/// | a connection that broke, a command that was withdrawn when it did, too many failed writes | transient, ambiguous |
/// | no answer in time | timeout |
/// | more commands in flight than the client allows | throttled: nothing was sent |
/// | a wrong password, an untrusted certificate, wrong commands, arguments and types, `MOVED`, unreadable answers, missing values, a wrong configuration, all else | stop |
///
/// This client keeps only the text of an I/O error, which is read. A blocking command that finds nothing in time is a
/// timeout, too.
///
/// The error of one command in a pipeline looks like that of a command alone, though others may have run before it. Add
/// `.ambiguous()` to what this returns where that matters.
pub fn classify(error: &Error) -> Verdict {
    let said = error.details();
    let (code, detail) = said.split_once(' ').unwrap_or((said, ""));
    match error.kind() {
        ErrorKind::IO if said.contains("ConnectionRefused") => Verdict::TRANSIENT,
        ErrorKind::IO if said.contains("InvalidCertificate") => Verdict::STOP,
        // By `fail_fast`, before it was sent.
        ErrorKind::Canceled if said == "Connection closed unexpectedly." => Verdict::TRANSIENT,
        ErrorKind::IO | ErrorKind::Canceled => BROKEN,
        ErrorKind::Timeout => Verdict::TIMEOUT,
        ErrorKind::Backpressure => Verdict::THROTTLED,
        ErrorKind::Routing | ErrorKind::Sentinel => Verdict::TRANSIENT,
        // Which kind it is of depends on the client's features.
        ErrorKind::Unknown if said == "Failed to route command." => Verdict::TRANSIENT,
        ErrorKind::Unknown
            if said == "Too many failed write attempts." || said == "Max attempts exceeded" =>
        {
            BROKEN
        }
        // While it connects: nodes that were just started take a moment to find each other.
        ErrorKind::Protocol if said == "Invalid or missing cluster state." => Verdict::TRANSIENT,
        // A transaction whose connection broke before its answer came.
        ErrorKind::Protocol if said == "Unexpected empty frame received." => BROKEN,
        _ if redis_refused(code, detail) => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    }
}

/// Makes a client send each command once per call, also in a cluster. By itself it sends one up to three times, if the
/// connection breaks meanwhile.
///
/// In a cluster, a redirection ends an attempt, too. After `MOVED` the client knows where the slot is, and the next
/// attempt goes there. While a slot moves, a key that its old node lacks is refused by `ASK`, until all of the slot has
/// moved. This client can't follow `ASK`: without this setting it asks the old node again, and once its attempts are
/// used up, it never answers any command again.
///
/// Not for transactions: this client sends `MULTI` to `EXEC` once more if the connection breaks, whatever its configuration
/// says, also when the first may have taken effect. In a cluster, one whose slot has moved ends with
/// "Max redirections exceeded", which stops, and the client does not learn from it where the slot is. Give transactions a
/// client of their own. A script runs once.
pub fn without_retries(config: &mut ConnectionConfig) {
    config.max_command_attempts = 1;
    config.max_redirections = 0;
}
