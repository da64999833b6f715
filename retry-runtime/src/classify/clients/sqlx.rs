use std::io;

use ::sqlx::Error;
use ::sqlx::error::DatabaseError;

use crate::classify::Classify;
use crate::classify::verdict::Verdict;

/// | failure | verdict |
/// |---|---|
/// | the pool had no connection in time | transient: nothing was sent |
/// | too many connections (53300), the server starts up or recovers (57P03) | transient: nothing was done |
/// | the server shut down (57P01) or crashed (57P02) | transient, ambiguous |
/// | I/O | connection refused: transient; a missing file, a denied permission, invalid data: stop; all else, unknown hosts among it: transient, ambiguous |
/// | a serialization failure (40001), a deadlock (40P01) | stop, except under [`on::transaction`](crate::on::transaction) |
/// | constraints, missing rows, wrong queries and types, all else | stop |
///
/// The codes are PostgreSQL's (Appendix A of its manual).
#[diagnostic::do_not_recommend]
impl Classify for Error {
    fn classify(&self) -> Verdict {
        match self {
            Self::PoolTimedOut => Verdict::TRANSIENT,
            Self::Io(error) => of_io(error),
            Self::Database(error) => match error.code().as_deref() {
                Some("53300" | "57P03") => Verdict::TRANSIENT,
                Some("57P01" | "57P02") => Verdict::TRANSIENT.ambiguous(),
                _ => Verdict::STOP,
            },
            _ => Verdict::STOP,
        }
    }
}

/// Whether the database undid a whole transaction because of another one.
pub(crate) fn is_conflict(error: &Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    matches!(code.as_deref(), Some("40001" | "40P01"))
}

/// It comes from the connection to the database, so what it does not name is a fault of the network.
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
