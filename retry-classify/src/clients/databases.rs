//! Verdicts on database error codes, for all database clients.

use crate::Verdict;

/// PostgreSQL and MySQL did nothing: the session could not start, the server can't write (as after a failover), or it
/// lacks memory.
const REFUSED: [&str; 7] = [
    "08001", "08004", "25006", "53200", "53300", "57P03", "57P05",
];
/// The session ended, perhaps during the statement, or it is unknown whether the statement took effect (40003).
const BROKEN: [&str; 8] = [
    "08000", "08003", "08006", "08007", "08S01", "40003", "57P01", "57P02",
];
/// Only the whole transaction can be repeated: serialization failures, deadlocks, locks held by another transaction.
const CONFLICTS: [&str; 3] = ["40001", "40P01", "55P03"];
/// SQLSTATEs that have several meanings, each with the text for which it means that nothing was done.
#[rustfmt::skip] // A text a line.
const REFUSED_BY_TEXT: [(&str, &str); 11] = [
    // PgBouncer uses one state for everything that it reports itself; these are reported before a statement has a
    // connection. From PostgreSQL, the same state is a client error.
    ("08P01", "query_wait_timeout"),
    ("08P01", "no more connections allowed"),
    ("08P01", "cannot connect to server"),
    ("08P01", "server_login_retry"),
    // Supavisor; RDS Proxy for PostgreSQL and for MySQL.
    ("XX000", "MaxClientsInSessionMode"),
    ("08000", "Timed-out waiting to acquire database connection"),
    ("HY000", "Timed-out waiting to acquire database connection"),
    // MySQL: a user's connection limit (1203, 1226); a server that can't write, as after a failover (1290, 1836).
    ("42000", "already has more than 'max_user_connections'"),
    ("42000", "has exceeded the 'max_user_connections' resource"),
    ("HY000", "read-only option"),
    ("HY000", "Running in read-only mode"),
];
/// Also sent by `PgBouncer`.
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
/// Redis has no code for this.
const REDIS_FULL: &str = "max number of clients";

/// The verdict on a single statement that failed with this SQLSTATE.
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

/// Returns true if a whole transaction that failed with this SQLSTATE can be repeated.
pub fn is_conflict(state: &str) -> bool {
    CONFLICTS.contains(&state)
}

/// Returns true if Redis refused a command that it may accept later.
pub fn redis_refused(code: &str, detail: &str) -> bool {
    REDIS_REFUSED.contains(&code) || detail.starts_with(REDIS_FULL)
}
