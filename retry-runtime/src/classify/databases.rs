//! What databases say, whichever client was told it.

use super::verdict::Verdict;

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
/// `PgBouncer` has one state for all that it says itself. From PostgreSQL, the same is a fault of the client.
const PROTOCOL_VIOLATION: &str = "08P01";
/// Before a statement has a connection.
const PGBOUNCER_REFUSED: [&str; 4] = [
    "query_wait_timeout",
    "no more connections allowed",
    "cannot connect to server",
    "server_login_retry",
];
const PGBOUNCER_BROKEN: &str = "server conn crashed";

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
const REDIS_FULL: &str = "max number of clients reached";

/// The verdict on a single statement that failed with that SQLSTATE.
pub fn by_sqlstate(state: &str, message: &str) -> Verdict {
    let says = |text: &&str| message.contains(*text);
    let is_from_pgbouncer = state == PROTOCOL_VIOLATION;
    if REFUSED.contains(&state) || is_from_pgbouncer && PGBOUNCER_REFUSED.iter().any(says) {
        Verdict::TRANSIENT
    } else if BROKEN.contains(&state) || is_from_pgbouncer && says(&PGBOUNCER_BROKEN) {
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
