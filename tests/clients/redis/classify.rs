//! redis 1 against fake servers on loopback: the classification of each failure, and the number of attempts. `database`
//! has the tests against a real server.

use std::net::SocketAddr;

use redis::{AsyncConnectionConfig, Client, ErrorKind, IntoConnectionInfo, RedisError, cmd};
use support::loopback::{self, Server, closed_port};
use support::prelude::*;
use support::verdicts::BROKEN;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn ping(url: &str) -> Result<(), RedisError> {
    let patience = Some(Duration::from_secs(20));
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(patience)
        .set_response_timeout(patience);
    let client = Client::open(url)?;
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    cmd("PING").query_async(&mut connection).await
}

async fn check(url: &str, expected: Verdict) -> RedisError {
    loopback::check(expected, RedisError::classify, async || ping(url).await).await
}

fn url(address: SocketAddr) -> String {
    format!("redis://{address}")
}

/// Replies to every command with these bytes.
pub(super) fn answering(answer: &'static [u8]) -> Server {
    Server::start(move |mut stream| async move {
        let mut buffer = [0; 1024];
        loop {
            let commands = stream.read(&mut buffer).await?;
            // Each is an array: `*2\r\n…`.
            for _ in buffer[..commands].iter().filter(|&&byte| byte == b'*') {
                stream.write_all(answer).await?;
            }
            if commands == 0 {
                return Ok(());
            }
        }
    })
}

#[tokio::test]
async fn no_connection_is_transient_and_a_broken_one_is_ambiguous() {
    let error = check(&url(closed_port()), Verdict::TRANSIENT).await;
    assert!(error.is_connection_refusal(), "{error}");
    check("redis+unix:///no-such-socket", Verdict::TRANSIENT).await;

    let closing = Server::start(async |mut stream| stream.read(&mut [0]).await.map(drop));
    check(&url(closing.address), BROKEN).await;
}

#[tokio::test]
async fn the_servers_error_code_decides() {
    let table: [(&[u8], Verdict); 14] = [
        (b"-LOADING Redis is loading the dataset in memory\r\n", Verdict::TRANSIENT),
        (b"-TRYAGAIN Multiple keys request during rehashing of slot\r\n", Verdict::TRANSIENT),
        (b"-CLUSTERDOWN The cluster is down\r\n", Verdict::TRANSIENT),
        (b"-MASTERDOWN Link with MASTER is down\r\n", Verdict::TRANSIENT),
        (b"-READONLY You can't write against a read only replica.\r\n", Verdict::TRANSIENT),
        (b"-NOREPLICAS Not enough good replicas to write.\r\n", Verdict::TRANSIENT),
        (b"-BUSY Redis is busy running a script.\r\n", Verdict::TRANSIENT),
        (b"-UNBLOCKED force unblock from blocking operation\r\n", Verdict::TRANSIENT),
        (b"-ERR max number of clients reached\r\n", Verdict::TRANSIENT),
        (b"-ERR max number of clients + cluster connections reached\r\n", Verdict::TRANSIENT),
        (b"-BUSYGROUP Consumer Group name already exists\r\n", Verdict::STOP),
        (b"-MOVED 3999 127.0.0.1:6381\r\n", Verdict::STOP),
        (b"-NOPERM this user has no permissions\r\n", Verdict::STOP),
        (b"-ERR unknown command\r\n", Verdict::STOP),
    ];
    for (answer, expected) in table {
        check(&url(answering(answer).address), expected).await;
    }
}

/// The other commands of the pipeline were executed.
#[tokio::test]
async fn a_rejected_command_of_a_pipeline_is_ambiguous() {
    let refusing = Server::start(async |mut stream| {
        let mut buffer = [0; 4096];
        loop {
            let length = stream.read(&mut buffer).await?;
            let text = String::from_utf8_lossy(&buffer[..length]);
            let commands = text.matches('*').count();
            if commands == 0 {
                return Ok(());
            }
            let answer = if text.contains("DECRBY") {
                "+OK\r\n-TRYAGAIN Multiple keys request during rehashing of slot\r\n"
            } else {
                &"+OK\r\n".repeat(commands)
            };
            stream.write_all(answer.as_bytes()).await?;
        }
    });
    let client = Client::open(url(refusing.address)).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut pipeline = redis::pipe();
    pipeline.decr("a", 1).incr("b", 1);
    let outcome: Result<(), _> = pipeline.query_async(&mut connection).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.classify(), BROKEN, "{error}");
}

#[tokio::test]
async fn errors_that_a_new_connection_does_not_fix_stop() {
    let stranger = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let error = check(&url(stranger.address), Verdict::STOP).await;
    assert_eq!(error.kind(), ErrorKind::Parse, "{error}");

    let strict = answering(b"-WRONGPASS invalid username-password pair\r\n");
    let error = check(&format!("redis://:wrong@{}", strict.address), Verdict::STOP).await;
    assert_eq!(error.kind(), ErrorKind::AuthenticationFailed, "{error}");

    let error = "http://localhost".into_connection_info().unwrap_err();
    assert_eq!(error.classify(), Verdict::STOP, "{error}");
}

/// Created by hand, because a real one would need a cluster.
#[test]
fn a_cluster_without_a_reachable_node_is_transient() {
    for kind in [
        ErrorKind::ClusterConnectionNotFound,
        ErrorKind::MasterNameNotFoundBySentinel,
        ErrorKind::NoValidReplicasFoundBySentinel,
    ] {
        let error = RedisError::from((kind, "no node"));
        assert_eq!(error.classify(), Verdict::TRANSIENT, "{error}");
    }
    let error = RedisError::from((ErrorKind::EmptySentinelList, "no address"));
    assert_eq!(error.classify(), Verdict::STOP, "{error}");
}
