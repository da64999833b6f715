//! sqlx 0.9 against fake servers on loopback: the classification of each failure, and the number of attempts.
//! `database` has the tests against a real server.

use std::net::SocketAddr;

use retry_runtime::on;
use sqlx::mysql::MySqlConnection;
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Error};
use support::loopback::{self, Server, closed_port};
use support::postgres::{CODES, POOLERS, failing, failing_with};
use support::prelude::*;
use support::verdicts::BROKEN;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn check(url: &str, expected: Verdict) -> Error {
    loopback::check(expected, Error::classify, async || PgConnection::connect(url).await).await
}

fn url(address: SocketAddr) -> String {
    format!("postgres://test@{address}/test?sslmode=disable")
}

#[tokio::test]
async fn no_connection_is_transient_and_a_broken_one_is_ambiguous() {
    check(&url(closed_port()), Verdict::TRANSIENT).await;
    let nameless = "postgres://test@no-such-host.invalid/test";
    check(nameless, Verdict::TRANSIENT).await;
    let closing = Server::start(async |mut stream| stream.read(&mut [0]).await.map(drop));
    check(&url(closing.address), BROKEN).await;
}

#[tokio::test]
async fn a_missing_socket_and_a_wrong_url_stop() {
    let error = check("postgres://test@%2Fno-such-folder/test", Verdict::STOP).await;
    assert!(matches!(error, Error::Io(_)), "{error}");
    let error = check("no address", Verdict::STOP).await;
    assert!(matches!(error, Error::Configuration(_)), "{error:?}");
}

#[tokio::test]
async fn codes_have_the_verdict_of_the_table() {
    for (code, expected, in_transaction) in CODES {
        let server = failing_with(code);
        let error = check(&url(server.address), expected).await;
        assert_eq!(on::transaction(&error), in_transaction, "{code}");
    }
    for (code, message, expected) in POOLERS {
        check(&url(failing(code, message).address), expected).await;
    }
}

/// Greets every connection with an error of that number and code.
fn mysql_failing_with(number: u16, code: &str, message: &str) -> Server {
    let error = [b"\xff", &number.to_le_bytes()[..], b"#", code.as_bytes(), message.as_bytes()];
    let error = error.concat();
    let length = u32::try_from(error.len()).unwrap().to_le_bytes();
    // Three bytes of length, and the packet's number.
    let packet: Arc<[u8]> = [&length[..3], b"\0", &error].concat().into();
    Server::start(move |mut stream| {
        let packet = Arc::clone(&packet);
        async move { stream.write_all(&packet).await }
    })
}

#[tokio::test]
async fn codes_of_mysql_have_the_verdict_of_the_table() {
    let lock_wait = "Lock wait timeout exceeded; try restarting transaction";
    let read_only = "The MySQL server is running with the --read-only option so it cannot execute this statement";
    let no_wait =
        "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.";
    let full = "User 'u' has exceeded the 'max_user_connections' resource (current value: 50)";
    let many = "User u already has more than 'max_user_connections' active connections";
    let hour = "User 'u' has exceeded the 'max_connections_per_hour' resource (current value: 5)";
    let syntax = "You have an error in your SQL syntax near 'max_user_connections'";
    let pooled = "Timed-out waiting to acquire database connection";
    let changed = "Record has changed since last read in table 't'";
    let table = [
        (1203, "42000", many, Verdict::TRANSIENT),
        (1226, "42000", full, Verdict::TRANSIENT),
        (1226, "42000", hour, Verdict::STOP),
        (1064, "42000", syntax, Verdict::STOP),
        (9501, "HY000", pooled, Verdict::TRANSIENT),
        (3572, "HY000", no_wait, Verdict::STOP),
        (9007, "HY000", "Write conflict, txnStartTS=4", Verdict::STOP),
        (1020, "HY000", changed, Verdict::STOP),
        (1040, "08004", "Too many connections", Verdict::TRANSIENT),
        (1053, "08S01", "Server shutdown in progress", BROKEN),
        (1213, "40001", "Deadlock found when trying to get lock", Verdict::STOP),
        (1205, "HY000", lock_wait, Verdict::STOP),
        (1290, "HY000", read_only, Verdict::TRANSIENT),
        (1792, "25006", "Cannot execute statement in a READ ONLY transaction", Verdict::TRANSIENT),
        (1836, "HY000", "Running in read-only mode", Verdict::TRANSIENT),
        (1114, "HY000", "The table is full", Verdict::STOP),
        (1062, "23000", "Duplicate entry", Verdict::STOP),
        (1045, "28000", "Access denied", Verdict::STOP),
    ];
    for (number, code, message, expected) in table {
        let server = mysql_failing_with(number, code, message);
        let url = format!("mysql://test@{}/test?ssl-mode=disabled", server.address);
        let error = MySqlConnection::connect(&url).await.unwrap_err();
        assert_eq!(error.classify(), expected, "{error:?}");
        let is_conflict = matches!(number, 1020 | 1205 | 1213 | 3572 | 9007);
        let in_transaction = if is_conflict { Verdict::TRANSIENT } else { expected };
        assert_eq!(on::transaction(&error), in_transaction, "{error:?}");
    }
}
