//! fred's built-in retries, and the setting that turns them off.

use support::loopback::Server;
use support::redis::read_command;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::*;

/// Closes the connection instead of replying to a `GET`. May be the only node of a cluster.
async fn serve(stream: TcpStream, gets: Arc<AtomicU32>) -> io::Result<()> {
    let node = format!("$9\r\n127.0.0.1\r\n:{}\r\n$1\r\na\r\n", stream.local_addr()?.port());
    let slots = format!("*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n{node}");
    let mut stream = BufReader::new(stream);
    loop {
        let answer = match &*read_command(&mut stream).await?.join(" ") {
            "GET key" => {
                gets.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            "INFO server" => "$19\r\nredis_version:7.0.0\r\n",
            "CLIENT ID" => ":1\r\n",
            "CLUSTER SLOTS" => &slots,
            "CLUSTER INFO" => "$16\r\ncluster_state:ok\r\n",
            _ => "+OK\r\n",
        };
        stream.write_all(answer.as_bytes()).await?;
    }
}

#[retry(max = 2, backoff = "none", on = classify)]
async fn get(client: &Client) -> Result<Option<String>, Error> {
    client.get("key").await
}

/// Returns the number of commands of a call, and its end.
async fn gets(
    scheme: &str,
    settings: fn(&mut ConnectionConfig),
    policy: Option<ReconnectPolicy>,
    patience: Duration,
) -> (u32, Verdict) {
    let gets = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&gets);
    let server = Server::start(move |stream| serve(stream, Arc::clone(&count)));
    let url = format!("{scheme}://{}", server.address);
    let client = client(&url, settings, policy, patience);
    client.init().await.unwrap();
    let error = get(&client).await.unwrap_err();
    (gets.load(Ordering::Relaxed), classify(&error))
}

#[tokio::test]
async fn a_client_without_its_own_retries_sends_one_command_per_attempt() {
    let again = || Some(ReconnectPolicy::new_constant(0, 1));
    let patience = Duration::from_secs(10);
    for scheme in ["redis", "redis-cluster"] {
        let once = gets(scheme, without_retries, again(), patience).await;
        assert_eq!(once, (3, BROKEN), "{scheme}");
        // The effect that the setting prevents.
        let often = gets(scheme, |_| {}, again(), patience).await;
        assert_eq!(often, (9, BROKEN), "{scheme}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_connect_again_times_out() {
    let patience = Duration::from_millis(200);
    let (gets, verdict) = gets("redis", without_retries, None, patience).await;
    assert_eq!((gets, verdict), (1, Verdict::TIMEOUT));
}
