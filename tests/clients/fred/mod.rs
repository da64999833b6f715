//! fred: failures as its client reports them, classified and counted.

use fred::prelude::{Builder, Client, ClientLike, Config, Error, ErrorKind, KeysInterface};
use fred::types::config::{ConnectionConfig, ReconnectPolicy};
use retry_clients::fred::{classify, without_retries};
use support::loopback::{attempts, closed_port};
use support::prelude::*;
use support::verdicts::BROKEN;

mod database;
mod retries;

/// A client that reconnects if there is a policy, and waits for a response for this time.
fn client(
    url: &str,
    settings: fn(&mut ConnectionConfig),
    policy: Option<ReconnectPolicy>,
    patience: Duration,
) -> Client {
    let mut builder = Builder::from_config(Config::from_url(url).unwrap());
    builder.with_connection_config(settings);
    builder.with_performance_config(|config| config.default_command_timeout = patience);
    if let Some(policy) = policy {
        builder.set_policy(policy);
    }
    builder.build().unwrap()
}

#[retry(max = 2, backoff = "none", on = classify)]
async fn connect(url: &str, count: &mut u32) -> Result<Client, Error> {
    *count += 1;
    let client = client(url, without_retries, None, Duration::ZERO);
    client.init().await?;
    Ok(client)
}

#[tokio::test]
async fn no_connection_is_transient() {
    let mut count = 0;
    let url = format!("redis://{}", closed_port());
    let error = connect(&url, &mut count).await.err().unwrap();
    let expected = Verdict::TRANSIENT;
    assert_eq!(classify(&error), expected, "{error:?}");
    assert_eq!(count, attempts(expected).0);
}

const VERDICTS: &[(ErrorKind, &str, Verdict)] = &[
    (ErrorKind::IO, "Unresponsive connection.", BROKEN),
    (ErrorKind::Canceled, "Canceled.", BROKEN),
    (ErrorKind::Canceled, "Connection closed unexpectedly.", Verdict::TRANSIENT),
    (ErrorKind::Protocol, "Invalid or missing cluster state.", Verdict::TRANSIENT),
    (ErrorKind::Unknown, "Too many failed write attempts.", BROKEN),
    (ErrorKind::Timeout, "Request timed out.", Verdict::TIMEOUT),
    (ErrorKind::Backpressure, "Max in-flight commands reached.", Verdict::THROTTLED),
    (ErrorKind::Unknown, "Max attempts exceeded", BROKEN),
    (ErrorKind::Protocol, "Unexpected empty frame received.", BROKEN),
    (ErrorKind::IO, "invalid peer certificate: InvalidCertificate(UnknownIssuer)", Verdict::STOP),
    (ErrorKind::Unknown, "Failed to route command.", Verdict::TRANSIENT),
    (ErrorKind::Routing, "Failed to route command.", Verdict::TRANSIENT),
    (ErrorKind::Sentinel, "Failed to connect.", Verdict::TRANSIENT),
    (ErrorKind::Cluster, "CLUSTERDOWN The cluster is down", Verdict::TRANSIENT),
    (ErrorKind::Cluster, "MOVED 1 127.0.0.1:1", Verdict::STOP),
    (ErrorKind::Unknown, "LOADING Redis is loading", Verdict::TRANSIENT),
    (ErrorKind::Unknown, "TRYAGAIN Multiple keys", Verdict::TRANSIENT),
    (ErrorKind::Unknown, "MASTERDOWN Link with MASTER is down", Verdict::TRANSIENT),
    (ErrorKind::Unknown, "READONLY You can't write", Verdict::TRANSIENT),
    (ErrorKind::Unknown, "NOREPLICAS Not enough good replicas to write.", Verdict::TRANSIENT),
    (ErrorKind::Unknown, "BUSY Redis is busy running a script.", Verdict::TRANSIENT),
    (ErrorKind::Unknown, "UNBLOCKED force unblock from blocking operation", Verdict::TRANSIENT),
    (ErrorKind::Unknown, "ERR max number of clients reached", Verdict::TRANSIENT),
    (ErrorKind::Unknown, "BUSYGROUP Consumer Group name already exists", Verdict::STOP),
    (ErrorKind::Unknown, "ERR unknown command", Verdict::STOP),
    (ErrorKind::Auth, "WRONGPASS", Verdict::STOP),
    (ErrorKind::Config, "wrong", Verdict::STOP),
    (ErrorKind::Url, "wrong", Verdict::STOP),
    (ErrorKind::InvalidArgument, "WRONGTYPE", Verdict::STOP),
    (ErrorKind::InvalidCommand, "wrong", Verdict::STOP),
    (ErrorKind::Protocol, "garbled", Verdict::STOP),
    (ErrorKind::Parse, "no number", Verdict::STOP),
    (ErrorKind::NotFound, "nil", Verdict::STOP),
];

#[test]
fn every_kind_has_the_verdict_of_the_table() {
    for (kind, text, expected) in VERDICTS {
        let error = Error::new(kind.clone(), *text);
        assert_eq!(classify(&error), *expected, "{error:?}");
    }
}
