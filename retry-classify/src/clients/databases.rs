//! Verdicts on the codes of databases, for all of their clients.

use crate::Verdict;

/// PostgreSQL and MySQL did nothing: there is no session, the server can't write, as after a failover, or lacks memory.
const REFUSED: [&str; 7] = [
    "08001", "08004", "25006", "53200", "53300", "57P03", "57P05",
];
/// The session ended, maybe with the statement; or nobody knows whether the statement did (40003).
const BROKEN: [&str; 8] = [
    "08000", "08003", "08006", "08007", "08S01", "40003", "57P01", "57P02",
];
/// Only the whole transaction can be repeated: serialization failures, deadlocks, locks that others hold.
const CONFLICTS: [&str; 3] = ["40001", "40P01", "55P03"];
/// A state that others use for more, and the text by which it means that nothing was done.
#[rustfmt::skip] // A text a line.
const REFUSED_BY_TEXT: [(&str, &str); 11] = [
    // PgBouncer has one state for all that it says itself, here before a statement has a connection. From PostgreSQL, the
    // same is a fault of the client.
    ("08P01", "query_wait_timeout"),
    ("08P01", "no more connections allowed"),
    ("08P01", "cannot connect to server"),
    ("08P01", "server_login_retry"),
    // Supavisor; RDS Proxy, as PostgreSQL and as MySQL.
    ("XX000", "MaxClientsInSessionMode"),
    ("08000", "Timed-out waiting to acquire database connection"),
    ("HY000", "Timed-out waiting to acquire database connection"),
    // MySQL: a user's connections (1203, 1226); a server that can't write, as after a failover (1290, 1836).
    ("42000", "already has more than 'max_user_connections'"),
    ("42000", "has exceeded the 'max_user_connections' resource"),
    ("HY000", "read-only option"),
    ("HY000", "Running in read-only mode"),
];
/// Of `PgBouncer`, too.
const BROKEN_BY_TEXT: (&str, &str) = ("08P01", "server conn crashed");

/// Redis did nothing: it is not ready, has too few replicas, runs a script, or has become a replica.
const REDIS_REFUSED: [&str; 8] = [
    "BUSY",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "NOREPLICAS",
    "READONLY",
    "TRYAGAIN",
    "UNBLOCKED",
];
/// Redis names no code for it.
const REDIS_FULL: &str = "max number of clients";

/// The verdict on a single statement that failed with that SQLSTATE.
pub fn by_sqlstate(state: &str, message: &str) -> Verdict {
    let says = |&(of, text): &(&str, &str)| state == of && message.contains(text);
    if REFUSED.contains(&state) || REFUSED_BY_TEXT.iter().any(says) {
        Verdict::TRANSIENT
    } else if BROKEN.contains(&state) || says(&BROKEN_BY_TEXT) {
        Verdict::TRANSIENT.ambiguous()
    } else {
        Verdict::STOP
    }
}

/// Whether a whole transaction that failed with that SQLSTATE can be repeated.
pub fn is_conflict(state: &str) -> bool {
    CONFLICTS.contains(&state)
}

/// Whether Redis refused a command that it may take later.
pub fn redis_refused(code: &str, detail: &str) -> bool {
    REDIS_REFUSED.contains(&code) || detail.starts_with(REDIS_FULL)
}
