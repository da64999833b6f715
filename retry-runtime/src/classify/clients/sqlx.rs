use std::io;

use ::sqlx::Error;

use crate::classify::Classify;
use crate::classify::verdict::Verdict;
use crate::error_text::chain::describe_with_causes;

/// The server did nothing: there is no session, or it can't write, as after a failover.
const REFUSED: [&str; 6] = ["08001", "08004", "25006", "53300", "57P03", "57P05"];
/// The session ended, maybe with the statement.
const BROKEN: [&str; 7] = [
    "08000", "08003", "08006", "08007", "08S01", "57P01", "57P02",
];
/// `SQLITE_BUSY` and `SQLITE_LOCKED`, `SQLITE_BUSY_RECOVERY`, `SQLITE_LOCKED_SHAREDCACHE`, `SQLITE_BUSY_TIMEOUT`.
const SQLITE_BUSY: [&str; 5] = ["5", "6", "261", "262", "773"];
/// What was read before is out of date. Repeating the statement alone never helps.
const SQLITE_BUSY_SNAPSHOT: &str = "517";
/// MySQL has only a number for what is no state of the standard, which only its driver knows.
const MYSQL_OTHER: &str = "HY000";
const LOCK_WAIT_TIMEOUT: &str = "Lock wait timeout exceeded";
/// Error 1290, as after a failover: "--read-only option", "--super-read-only option".
const MYSQL_READ_ONLY: &str = "read-only option";

/// | failure | verdict |
/// |---|---|
/// | the pool had no connection in time | transient: nothing was sent |
/// | PostgreSQL: too many connections (53300), no connection (08001), the server starts up or recovers (57P03), is read-only after a failover (25006), or had closed an idle session (57P05) | transient: nothing was done |
/// | PostgreSQL: the server shut down (57P01) or crashed (57P02), the connection broke (08000, 08003, 08006, 08007) | transient, ambiguous |
/// | MySQL: too many connections (08004, error 1040), read-only after a failover (1290) | transient: nothing was done |
/// | MySQL: the server shut down (08S01) | transient, ambiguous |
/// | SQLite: the database is busy or locked (5, 6 and their extended codes but 517) | transient: nothing was done |
/// | I/O | connection refused: transient; a missing file, a denied permission, invalid data: stop; all else, unknown hosts among it: transient, ambiguous |
/// | a serialization failure or a deadlock (40001, 40P01), MySQL's lock wait timeout (1205), a snapshot of SQLite that is out of date (517) | stop, except under [`on::transaction`](crate::on::transaction) |
/// | constraints, missing rows, wrong queries and types, all else | stop |
///
/// Sources: PostgreSQL's manual, Appendix A; MySQL's "Server Error Message Reference"; SQLite's "Result and Error Codes".
#[diagnostic::do_not_recommend]
impl Classify for Error {
    fn classify(&self) -> Verdict {
        match self {
            Self::PoolTimedOut => Verdict::TRANSIENT,
            Self::Io(error) => of_io(error),
            Self::Database(error) => match error.code().as_deref() {
                Some(code) if REFUSED.contains(&code) => Verdict::TRANSIENT,
                Some(code) if SQLITE_BUSY.contains(&code) => Verdict::TRANSIENT,
                Some(code) if BROKEN.contains(&code) => Verdict::TRANSIENT.ambiguous(),
                Some(MYSQL_OTHER) if error.message().contains(MYSQL_READ_ONLY) => {
                    Verdict::TRANSIENT
                }
                _ => Verdict::STOP,
            },
            _ => Verdict::STOP,
        }
    }

    describe_with_causes!();
}

/// Whether only the whole transaction can be repeated, because it conflicts with another one.
pub(crate) fn is_conflict(error: &Error) -> bool {
    let Some(error) = error.as_database_error() else {
        return false;
    };
    match error.code().as_deref() {
        Some("40001" | "40P01" | SQLITE_BUSY_SNAPSHOT) => true,
        Some(MYSQL_OTHER) => error.message().starts_with(LOCK_WAIT_TIMEOUT),
        _ => false,
    }
}

/// An error of the connection to the database, so what it does not name is a fault of the network.
fn of_io(error: &io::Error) -> Verdict {
    use io::ErrorKind::{InvalidData, InvalidInput, NotFound, PermissionDenied, Unsupported};

    match error.classify() {
        Verdict::STOP
            if !matches!(
                error.kind(),
                NotFound | PermissionDenied | InvalidInput | InvalidData | Unsupported
            ) =>
        {
            Verdict::TRANSIENT.ambiguous()
        }
        verdict => verdict,
    }
}
