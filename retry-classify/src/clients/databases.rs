//! Verdicts on database error codes, for all database clients.

use crate::Verdict;

/// SQLSTATEs, a part of the message (if a state has several meanings), and the verdict on a single statement. The first
/// row that matches decides.
#[rustfmt::skip] // One row per line.
const BY_STATE: [(&str, &str, Verdict); 14] = [
    // PgBouncer uses one state for all its own errors. All but the last of these occur before a statement has a
    // connection. From PostgreSQL, the same state is a client error.
    ("08P01", "query_wait_timeout", Verdict::TRANSIENT),
    ("08P01", "no more connections allowed", Verdict::TRANSIENT),
    ("08P01", "cannot connect to server", Verdict::TRANSIENT),
    ("08P01", "server_login_retry", Verdict::TRANSIENT),
    ("08P01", "server conn crashed", Verdict::TRANSIENT.ambiguous()),
    // Supavisor; RDS Proxy for PostgreSQL and for MySQL.
    ("XX000", "MaxClientsInSessionMode", Verdict::TRANSIENT),
    ("08000 HY000", "Timed-out waiting to acquire database connection", Verdict::TRANSIENT),
    // MySQL: a user's connection limit (1203, 1226); a server that can't write, as after a failover (1290, 1836).
    ("42000", "already has more than 'max_user_connections'", Verdict::TRANSIENT),
    ("42000", "has exceeded the 'max_user_connections' resource", Verdict::TRANSIENT),
    ("HY000", "read-only option", Verdict::TRANSIENT),
    ("HY000", "Running in read-only mode", Verdict::TRANSIENT),
    // PostgreSQL and MySQL did nothing: the session could not start, the server can't write (as after a failover), or
    // it lacks memory.
    ("08001 08004 25006 53200 53300 57P03 57P05", "", Verdict::TRANSIENT),
    // The session ended, perhaps during the statement, or it is unknown whether the statement took effect (40003).
    ("08000 08003 08006 08007 08S01", "", Verdict::TRANSIENT.ambiguous()),
    ("40003 57P01 57P02", "", Verdict::TRANSIENT.ambiguous()),
];
/// States after which only a whole transaction can be repeated: serialization failures, deadlocks, lock conflicts.
const CONFLICTS: &str = "40001 40P01 55P03";

/// Codes with which Redis refuses commands: it is not ready, has too few replicas, runs a script, or became a replica.
const REDIS_REFUSED: &str =
    "BUSY CLUSTERDOWN LOADING MASTERDOWN NOREPLICAS READONLY TRYAGAIN UNBLOCKED";
/// The start of a refusal that has no code.
const REDIS_FULL: &str = "max number of clients";

/// The verdict on a single statement that failed with this SQLSTATE.
pub fn by_sqlstate(state: &str, message: &str) -> Verdict {
    let is = |of, text| is_one_of(of, state) && message.contains(text);
    let row = BY_STATE.iter().find(|(of, text, _)| is(of, *text));
    row.map_or(Verdict::STOP, |row| row.2)
}

/// Returns true if a whole transaction that failed with this SQLSTATE can be repeated.
pub fn is_conflict(state: &str) -> bool {
    is_one_of(CONFLICTS, state)
}

/// Returns true if Redis refused a command that it may accept later.
pub fn redis_refused(code: &str, detail: &str) -> bool {
    is_one_of(REDIS_REFUSED, code) || detail.starts_with(REDIS_FULL)
}

fn is_one_of(list: &str, code: &str) -> bool {
    list.split(' ').any(|one| one == code)
}
