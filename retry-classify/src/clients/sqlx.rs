use std::io;

use ::sqlx::Error;

use super::databases::{self, by_sqlstate};
use crate::{Classify, Verdict};

/// `SQLITE_BUSY` and `SQLITE_LOCKED`, `SQLITE_BUSY_RECOVERY`, `SQLITE_LOCKED_SHAREDCACHE`, `SQLITE_BUSY_TIMEOUT`.
const SQLITE_BUSY: [&str; 5] = ["5", "6", "261", "262", "773"];
/// The transaction has read data that has since changed. Repeating only the statement never helps.
const SQLITE_BUSY_SNAPSHOT: &str = "517";
/// MySQL's state for all errors without a standard state. Only the driver's error type has the error number.
const MYSQL_OTHER: &str = "HY000";
/// Conflicts with another transaction: errors 1205 and 3572, `TiDB`'s 9007, `MariaDB`'s 1020.
const MYSQL_CONFLICTS: [&str; 4] = [
    "Lock wait timeout exceeded",
    "Statement aborted because lock(s) could not be acquired immediately",
    "Write conflict",
    "Record has changed since last read",
];

/// | failure | verdict |
/// |---|---|
/// | the pool had no connection in time | transient: nothing was sent |
/// | PostgreSQL: too many connections (53300), no connection (08001), the server is starting or recovering (57P03), is read-only after a failover (25006), closed an idle session (57P05), or is out of memory (53200) | transient: nothing was done |
/// | `PgBouncer` (08P01): no connection in time, too many clients, no server | transient: nothing was done |
/// | PostgreSQL: the server shut down (57P01) or crashed (57P02), the connection broke (08000, 08003, 08006, 08007; between `PgBouncer` and the server, 08P01), it is unknown whether the statement took effect (40003) | transient, ambiguous |
/// | Supavisor, RDS Proxy: no connection in time (XX000, 08000, HY000) | transient: nothing was done |
/// | MySQL: too many connections (08004, error 1040), or too many for one user (1203, 1226), read-only after a failover (1290, 1836) | transient: nothing was done |
/// | MySQL: the server shut down (08S01) | transient, ambiguous |
/// | SQLite: the database is busy or locked (5, 6 and their extended codes except 517) | transient: nothing was done |
/// | I/O | connection refused: transient; a missing file, a denied permission, invalid data: stop; everything else, including unknown hosts: transient, ambiguous |
/// | a serialization failure or a deadlock (40001, 40P01), a lock held by another transaction (55P03), MySQL's lock wait timeout (1205) and `NOWAIT` (3572), `TiDB`'s 9007, `MariaDB`'s 1020, an outdated SQLite snapshot (517) | stop, except under [`on::transaction`](crate::on::transaction) |
/// | constraints, missing rows, wrong queries and types, everything else | stop |
///
/// Sources: PostgreSQL's manual, Appendix A; MySQL's "Server Error Message Reference"; SQLite's "Result and Error
/// Codes".
#[diagnostic::do_not_recommend]
impl Classify for Error {
    fn classify(&self) -> Verdict {
        match self {
            Self::PoolTimedOut => Verdict::TRANSIENT,
            Self::Io(error) => io_verdict(error),
            Self::Database(error) => match error.code().as_deref() {
                Some(code) if SQLITE_BUSY.contains(&code) => Verdict::TRANSIENT,
                Some(code) => by_sqlstate(code, error.message()),
                None => Verdict::STOP,
            },
            _ => Verdict::STOP,
        }
    }

    describe_with_causes!();
}

/// Returns true if only the whole transaction can be repeated, because it conflicts with another transaction.
pub(crate) fn is_conflict(error: &Error) -> bool {
    let Some(error) = error.as_database_error() else {
        return false;
    };
    match error.code().as_deref() {
        Some(SQLITE_BUSY_SNAPSHOT) => true,
        Some(MYSQL_OTHER) => {
            let begins = |text| error.message().starts_with(text);
            MYSQL_CONFLICTS.into_iter().any(begins)
        }
        Some(code) => databases::is_conflict(code),
        None => false,
    }
}

/// The verdict on an I/O error of the database connection. A kind that is not listed below is a network failure.
fn io_verdict(error: &io::Error) -> Verdict {
    use io::ErrorKind::{InvalidData, InvalidInput, NotFound, PermissionDenied, Unsupported};

    let verdict = error.classify();
    let is_named = matches!(
        error.kind(),
        NotFound | PermissionDenied | InvalidInput | InvalidData | Unsupported
    );
    if verdict == Verdict::STOP && !is_named {
        Verdict::TRANSIENT.ambiguous()
    } else {
        verdict
    }
}
