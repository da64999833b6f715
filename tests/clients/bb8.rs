//! bb8: failures as its pools report them, classified and counted.

use std::net::SocketAddr;

use bb8::{ManageConnection, Pool, RunError};
use retry_clients::bb8::pooled;
use support::loopback::{Server, closed_port};
use support::prelude::*;
use support::verdicts::BROKEN;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

struct Lines(SocketAddr);

impl ManageConnection for Lines {
    type Connection = TcpStream;
    type Error = io::Error;

    async fn connect(&self) -> io::Result<TcpStream> {
        TcpStream::connect(self.0).await
    }

    async fn is_valid(&self, _: &mut TcpStream) -> io::Result<()> {
        Ok(())
    }

    fn has_broken(&self, _: &mut TcpStream) -> bool {
        true
    }
}

/// A pool of one connection, for which a call waits 20 milliseconds.
async fn pool(address: SocketAddr) -> Pool<Lines> {
    let patience = Duration::from_millis(20);
    let builder = Pool::builder().max_size(1).connection_timeout(patience);
    builder.build(Lines(address)).await.unwrap()
}

/// `Classify` classifies the client's errors.
#[retry(max = 2, backoff = "none", on = pooled(Classify::classify))]
async fn ask(pool: &Pool<Lines>, count: &mut u32) -> Result<u8, RunError<io::Error>> {
    *count += 1;
    let mut connection = pool.get().await?;
    connection.write_all(b"?").await?;
    Ok(connection.read_u8().await?)
}

async fn check(address: SocketAddr, expected: Verdict) -> RunError<io::Error> {
    let mut count = 0;
    let error = ask(&pool(address).await, &mut count).await.unwrap_err();
    assert_eq!(pooled(io::Error::classify)(&error), expected, "{error:?}");
    assert_eq!(count, if expected.is_retryable() { 3 } else { 1 });
    error
}

/// A pool doesn't report the cause.
#[tokio::test]
async fn no_connection_in_time_is_transient() {
    let error = check(closed_port(), Verdict::TRANSIENT).await;
    assert!(matches!(error, RunError::TimedOut), "{error:?}");
}

#[tokio::test]
async fn no_free_connection_in_time_is_transient() {
    let server = Server::start(async |mut stream| stream.write_all(b"!").await);
    let pool = pool(server.address).await;
    let held = pool.get().await.unwrap();
    let mut count = 0;
    let error = ask(&pool, &mut count).await.unwrap_err();
    assert!(matches!(error, RunError::TimedOut), "{error:?}");
    assert_eq!((count, server.accepted()), (3, 1));
    drop(held);
    assert_eq!(ask(&pool, &mut count).await.unwrap(), b'!');
}

#[tokio::test]
async fn the_clients_errors_are_classified_by_its_function() {
    let closing = Server::start(async |mut stream| stream.read_u8().await.map(drop));
    let error = check(closing.address, BROKEN).await;
    assert!(matches!(error, RunError::User(_)), "{error:?}");
    let of = pooled(|_: &io::Error| false);
    assert_eq!(of(&error), Verdict::STOP);
}
