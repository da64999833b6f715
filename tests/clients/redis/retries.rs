//! The built-in retries of Redis clients, and the settings that turn them off.

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::cluster::{ClusterClient, ClusterClientBuilder};
use redis::{Client, RedisResult};
use support::loopback::{Server, closed_port};
use support::prelude::*;
use support::redis::read_command;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::classify::answering;

const SOON: Duration = Duration::from_millis(1);

#[retry(max = 2, backoff = "none")]
async fn connect(url: &str, config: &ConnectionManagerConfig) -> RedisResult<()> {
    let client = Client::open(url)?;
    let manager = ConnectionManager::new_with_config(client, config.clone()).await;
    manager.map(drop)
}

/// Returns the number of connections of a call to a server that closes each.
async fn connections(config: ConnectionManagerConfig) -> u32 {
    let closing = Server::start(async |mut stream| stream.read(&mut [0]).await.map(drop));
    let url = format!("redis://{}", closing.address);
    let config = config.set_min_delay(SOON).set_max_delay(SOON);
    connect(&url, &config).await.unwrap_err();
    closing.accepted()
}

#[tokio::test]
async fn a_manager_without_its_own_retries_connects_once_per_attempt() {
    let config = ConnectionManagerConfig::new();
    assert_eq!(connections(config.set_number_of_retries(0)).await, 3);
    // The effect that the setting prevents.
    assert_eq!(connections(ConnectionManagerConfig::new()).await, 21);
}

/// The only node of a cluster, which replies to every `GET` with `TRYAGAIN`.
async fn serve(stream: TcpStream, gets: Arc<AtomicU32>) -> io::Result<()> {
    let port = stream.local_addr()?.port();
    let mut stream = BufReader::new(stream);
    loop {
        let command = read_command(&mut stream).await?;
        let answer = match command.first().map(String::as_str) {
            Some("CLUSTER") => {
                format!("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:{port}\r\n")
            }
            Some("GET") => {
                gets.fetch_add(1, Ordering::Relaxed);
                String::from("-TRYAGAIN later\r\n")
            }
            _ => String::from("+OK\r\n"),
        };
        stream.write_all(answer.as_bytes()).await?;
    }
}

#[retry(max = 2, backoff = "none")]
async fn get(client: &ClusterClient) -> RedisResult<String> {
    let mut connection = client.get_async_connection().await?;
    redis::cmd("GET").arg("key").query_async(&mut connection).await
}

/// Returns the number of commands of a call.
async fn gets(settings: impl Fn(ClusterClientBuilder) -> ClusterClientBuilder) -> u32 {
    let gets = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&gets);
    let server = Server::start(move |stream| serve(stream, Arc::clone(&count)));
    let builder = ClusterClientBuilder::new([format!("redis://{}", server.address)]);
    let builder = builder.min_retry_wait(1).max_retry_wait(1);
    let error = get(&settings(builder).build().unwrap()).await.unwrap_err();
    assert_eq!(error.classify(), Verdict::TRANSIENT, "{error:?}");
    gets.load(Ordering::Relaxed)
}

#[tokio::test]
async fn a_cluster_client_without_its_own_retries_sends_one_command_per_attempt() {
    assert_eq!(gets(|builder| builder.retries(0)).await, 3);
    // The effect that the setting prevents.
    assert_eq!(gets(|builder| builder).await, 3 * 17);
}

#[tokio::test]
async fn a_cluster_that_can_not_be_reached_is_transient() {
    let verdict = async |url: String| {
        let client = ClusterClientBuilder::new([url]).retries(0);
        let error = get(&client.build().unwrap()).await.unwrap_err();
        (error.classify(), error)
    };
    let (of_none, error) = verdict(format!("redis://{}", closed_port())).await;
    assert_eq!(of_none, Verdict::TRANSIENT, "{error:?}");

    let strict = answering(b"-WRONGPASS invalid username-password pair\r\n");
    let (of_strict, error) = verdict(format!("redis://:wrong@{}", strict.address)).await;
    assert_eq!(of_strict, Verdict::STOP, "{error:?}");
}
