use redis::aio::MultiplexedConnection;
use redis::{
    AsyncCommands, AsyncConnectionConfig, Client, ErrorKind, RedisError, ServerErrorKind, cmd,
};
use support::prelude::*;
use support::verdicts::BROKEN;

use crate::databases::{self, control, control_concurrently, setting};

/// Opens a new connection, which waits for replies for this time.
async fn connect(patience: Option<Duration>) -> Result<MultiplexedConnection, RedisError> {
    let client = Client::open(setting("DATABASES_REDIS"))?;
    let config = AsyncConnectionConfig::new().set_response_timeout(patience);
    client.get_multiplexed_async_connection_with_config(&config).await
}

async fn attempts<T>(call: impl AsyncFn() -> Result<T, RedisError>) -> (RedisError, u32) {
    databases::attempts(RedisError::classify, call).await
}

/// The server dies while the first attempt waits for an element. The next attempts can't connect, then find a server
/// that is loading its data, and finally succeed.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_server_killed_in_the_middle_of_a_call_is_survived() {
    #[retry(max = 1000, backoff = "fixed", base = "5ms", jitter = "none", on = |error: &RedisError| {
        failures.push((error.kind(), error.classify()));
        error.classify()
    })]
    async fn get(failures: &mut Vec<(ErrorKind, Verdict)>) -> Result<i32, RedisError> {
        let mut connection = connect(None).await?;
        if failures.is_empty() {
            let _: () = connection.blpop("no-such-list", 30.0).await?;
        }
        connection.get("answer").await
    }

    let mut connection = connect(None).await.unwrap();
    for number in 0..300 {
        let _: () = connection.set(number, "x".repeat(100)).await.unwrap();
    }
    let _: () = connection.set("answer", 42).await.unwrap();
    let _: () = cmd("SAVE").query_async(&mut connection).await.unwrap();

    let mut failures = Vec::new();
    let restart = async {
        let blocked = async |connection: &mut MultiplexedConnection| {
            let info: String = cmd("INFO").arg("clients").query_async(connection).await.unwrap();
            info.contains("blocked_clients:1")
        };
        while !blocked(&mut connection).await {
            sleep(Duration::from_millis(5)).await;
        }
        control_concurrently(&["redis", "kill"]).await;
        // Long enough for attempts to be refused.
        sleep(Duration::from_millis(100)).await;
        let slowly =
            ["--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024"];
        tokio::task::spawn_blocking(move || control(&[&["redis", "start"][..], &slowly].concat()))
            .await
            .unwrap();
    };
    let (answer, ()) = tokio::join!(get(&mut failures), restart);
    assert_eq!(answer.unwrap(), 42);
    assert_eq!(failures[0], (ErrorKind::Io, BROKEN));
    assert!(failures.contains(&(ErrorKind::Io, Verdict::TRANSIENT)), "{failures:?}");
    let loading = ErrorKind::Server(ServerErrorKind::BusyLoading);
    assert!(failures.contains(&(loading, Verdict::TRANSIENT)), "{failures:?}");
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn no_response_in_time_is_a_timeout() {
    let (error, count) = attempts(async || {
        let mut connection = connect(Some(Duration::from_millis(30))).await?;
        connection.blpop::<_, ()>("no-such-list", 30.0).await
    })
    .await;
    assert_eq!((error.classify(), count), (Verdict::TIMEOUT, 3), "{error}");
}

/// They heal once the node is a master, or has one.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn replicas_are_transient() {
    let mut connection = connect(None).await.unwrap();
    let _: () = connection.set("key", 1).await.unwrap();
    let run = async |command: &str| {
        let mut words = command.split(' ');
        let mut command = cmd(words.next().unwrap());
        command.arg(words.collect::<Vec<_>>());
        command.query_async::<()>(&mut connect(None).await?).await
    };
    run("REPLICAOF 127.0.0.1 1").await.unwrap();
    run("CONFIG SET replica-serve-stale-data no").await.unwrap();
    let masterless = attempts(async || run("GET key").await).await;
    run("CONFIG SET replica-serve-stale-data yes").await.unwrap();
    let read_only = attempts(async || run("SET key 2").await).await;
    run("REPLICAOF NO ONE").await.unwrap();
    let kinds = [ServerErrorKind::MasterDown, ServerErrorKind::ReadOnly];
    for ((error, count), kind) in [masterless, read_only].into_iter().zip(kinds) {
        assert_eq!(error.kind(), ErrorKind::Server(kind), "{error}");
        assert_eq!((error.classify(), count), (Verdict::TRANSIENT, 3), "{error}");
    }
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_callers_mistake_stops() {
    let mut connection = connect(None).await.unwrap();
    let _: () = connection.set("text", "x").await.unwrap();
    let lpush = attempts(async || connect(None).await?.lpush::<_, _, ()>("text", 1).await).await;
    let get = attempts(async || connect(None).await?.get::<_, i32>("text").await).await;
    let nonsense = cmd("NONSENSE");
    let unknown =
        attempts(async || nonsense.query_async::<()>(&mut connect(None).await?).await).await;
    let wrong = setting("DATABASES_REDIS").replace("redis://", "redis://:wrong@");
    let denied =
        attempts(async || Client::open(&*wrong)?.get_multiplexed_async_connection().await).await;
    assert_eq!(denied.0.kind(), ErrorKind::AuthenticationFailed);
    for (error, count) in [lpush, get, unknown, denied] {
        assert_eq!((error.classify(), count), (Verdict::STOP, 1), "{error}");
    }
}
