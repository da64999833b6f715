//! tokio-postgres against fake servers on loopback: the classification of each failure, and the number of attempts.
//! `database` has the tests against a real server.

use std::net::SocketAddr;

use retry_clients::tokio_postgres::{classify, transaction};
use retry_runtime::Verdict;
use support::loopback::{self, Server, closed_port};
use support::postgres::{CODES, POOLERS, failing, failing_with};
use support::verdicts::BROKEN;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::{Error, NoTls};

async fn check(url: &str, expected: Verdict) -> Error {
    loopback::check(expected, classify, async || tokio_postgres::connect(url, NoTls).await).await
}

fn url(address: SocketAddr) -> String {
    format!("postgres://test@{address}/test?sslmode=disable")
}

/// Responds to the first message with these bytes, and closes the connection.
fn answering(bytes: &'static [u8]) -> Server {
    Server::start(async move |mut stream| {
        let _ = stream.read(&mut [0; 1024]).await?;
        stream.write_all(bytes).await
    })
}

#[tokio::test]
async fn no_connection_is_transient_and_a_broken_one_is_ambiguous() {
    check(&url(closed_port()), Verdict::TRANSIENT).await;
    let nameless = "postgres://test@no-such-host.invalid/test";
    check(nameless, Verdict::TRANSIENT).await;

    let closing = answering(b"");
    let error = check(&url(closing.address), BROKEN).await;
    assert!(error.is_closed(), "{error:?}");
    let resetting = Server::start(async |mut stream| {
        let _ = stream.read(&mut [0]).await?;
        stream.set_zero_linger()
    });
    let error = check(&url(resetting.address), BROKEN).await;
    assert!(!error.is_closed(), "{error:?}");
}

#[tokio::test]
async fn permanent_failures_stop() {
    check("host=/no-such-folder user=test", Verdict::STOP).await;
    check("host=127.0.0.1 port=many", Verdict::STOP).await;
    check("user=test", Verdict::STOP).await;
    // Ready for a query, before the login.
    let confused = answering(b"Z\0\0\0\x05I");
    check(&url(confused.address), Verdict::STOP).await;
    // The server has no TLS.
    let plain = answering(b"N");
    let url = format!("postgres://test@{}/test?sslmode=require", plain.address);
    check(&url, Verdict::STOP).await;
}

#[tokio::test]
async fn codes_have_the_verdict_of_the_table() {
    for (code, expected, in_transaction) in CODES {
        let server = failing_with(code);
        let error = check(&url(server.address), expected).await;
        assert_eq!(transaction(&error), in_transaction, "{code}");
    }
    for (code, message, expected) in POOLERS {
        check(&url(failing(code, message).address), expected).await;
    }
}
