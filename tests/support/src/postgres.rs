//! Loopback servers with the part of PostgreSQL's protocol that is needed to fail.

use std::sync::Arc;

use retry_runtime::Verdict;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::loopback::Server;
use crate::verdicts::BROKEN;

/// Codes of errors, and their verdicts: of a single statement, and of a whole transaction.
pub const CODES: [(&str, Verdict, Verdict); 20] = [
    ("53300", Verdict::TRANSIENT, Verdict::TRANSIENT),
    ("57P03", Verdict::TRANSIENT, Verdict::TRANSIENT),
    ("08001", Verdict::TRANSIENT, Verdict::TRANSIENT),
    ("25006", Verdict::TRANSIENT, Verdict::TRANSIENT),
    ("57P05", Verdict::TRANSIENT, Verdict::TRANSIENT),
    ("53200", Verdict::TRANSIENT, Verdict::TRANSIENT),
    ("08000", BROKEN, BROKEN),
    ("08003", BROKEN, BROKEN),
    ("08006", BROKEN, BROKEN),
    ("57P01", BROKEN, BROKEN),
    ("57P02", BROKEN, BROKEN),
    ("40003", BROKEN, BROKEN),
    ("40001", Verdict::STOP, Verdict::TRANSIENT),
    ("40P01", Verdict::STOP, Verdict::TRANSIENT),
    ("55P03", Verdict::STOP, Verdict::TRANSIENT),
    ("08P01", Verdict::STOP, Verdict::STOP),
    ("23505", Verdict::STOP, Verdict::STOP),
    ("57P04", Verdict::STOP, Verdict::STOP),
    ("28P01", Verdict::STOP, Verdict::STOP),
    ("XX000", Verdict::STOP, Verdict::STOP),
];

/// Error messages of poolers, and the verdicts: `PgBouncer`, which has only one code, Supavisor, RDS Proxy.
#[rustfmt::skip] // A failure a line.
pub const POOLERS: [(&str, &str, Verdict); 7] = [
    ("08P01", "query_wait_timeout", Verdict::TRANSIENT),
    ("08P01", "no more connections allowed (max_client_conn)", Verdict::TRANSIENT),
    ("08P01", "server conn crashed?", BROKEN),
    ("08P01", "unsupported startup parameter: x", Verdict::STOP),
    ("XX000", "MaxClientsInSessionMode: max clients reached", Verdict::TRANSIENT),
    ("08000", "Timed-out waiting to acquire database connection", Verdict::TRANSIENT),
    ("22P02", "invalid input syntax: \"query_wait_timeout\"", Verdict::STOP),
];

/// Ends every connection with an error of that code.
pub fn failing_with(code: &str) -> Server {
    failing(code, "text")
}

/// Ends every connection with an error of that code and text.
pub fn failing(code: &str, message: &str) -> Server {
    let fields = format!("SFATAL\0VFATAL\0C{code}\0M{message}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap();
    let message = [b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat();
    let message: Arc<[u8]> = message.into();
    Server::start(move |mut stream| {
        let message = Arc::clone(&message);
        async move {
            let _ = stream.read(&mut [0; 1024]).await?;
            stream.write_all(&message).await
        }
    })
}
