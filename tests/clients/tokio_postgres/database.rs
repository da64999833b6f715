use retry_clients::tokio_postgres::classify;
use support::prelude::*;
use support::verdicts::BROKEN;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, NoTls};

use crate::databases::{self, restart_postgres, setting};

/// Opens a connection with additional settings.
async fn connect_with(settings: &str) -> Result<Client, Error> {
    let url = format!("{}?{settings}", setting("DATABASES_POSTGRES"));
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

pub(crate) async fn connect() -> Result<Client, Error> {
    connect_with("").await
}

/// Until another connection is in `pg_sleep`.
pub(crate) async fn sleeping() {
    let client = connect().await.unwrap();
    let query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    while client.query_one(query, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        sleep(Duration::from_millis(5)).await;
    }
}

async fn attempts<T>(call: impl AsyncFn() -> Result<T, Error>) -> (Error, u32) {
    databases::attempts(classify, call).await
}

/// The server dies during the first attempt, and is running again before the last.
#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_server_killed_in_the_middle_of_a_call_is_survived() {
    #[retry(max = 500, backoff = "fixed", base = "10ms", jitter = "none", on = |error: &Error| {
        verdicts.push(classify(error));
        classify(error)
    })]
    async fn answer(verdicts: &mut Vec<Verdict>) -> Result<i32, Error> {
        let client = connect().await?;
        if verdicts.is_empty() {
            client.batch_execute("SELECT pg_sleep(30)").await?;
        }
        client.query_one("SELECT 42", &[]).await?.try_get(0)
    }

    let mut verdicts = Vec::new();
    let restart = async {
        sleeping().await;
        restart_postgres().await;
    };
    let (answer, ()) = tokio::join!(answer(&mut verdicts), restart);
    assert_eq!(answer.unwrap(), 42);
    let (first, rest) = verdicts.split_first().unwrap();
    assert_eq!(*first, BROKEN);
    assert!(rest.contains(&Verdict::TRANSIENT), "{rest:?}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_connection_that_the_server_ends_is_ambiguous() {
    let end = "SELECT pg_terminate_backend(pg_backend_pid())";
    let (error, count) = attempts(async || connect().await?.batch_execute(end).await).await;
    assert_eq!(error.code(), Some(&SqlState::ADMIN_SHUTDOWN));
    assert_eq!((classify(&error), count), (BROKEN, 3));
}

/// During a failover, all servers are replicas for a while, or none is.
#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_server_in_the_wanted_role_is_waited_for() {
    for (wanted, read_only) in [("read-write", "on"), ("read-only", "off")] {
        let settings = format!(
            "target_session_attrs={wanted}&options=-c%20default_transaction_read_only%3D{read_only}"
        );
        let (error, count) = attempts(async || connect_with(&settings).await).await;
        assert_eq!((classify(&error), count), (Verdict::TRANSIENT, 3), "{error:?}");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_callers_mistake_stops() {
    for statement in [
        "SELEKT 1",
        "SELECT * FROM no_such_table",
        "SELECT 1 / 0",
        "SELECT 1 WHERE false",
        "SELECT 'text'",
    ] {
        let (error, count) = attempts(async || {
            let row = connect().await?.query_one(statement, &[]).await?;
            row.try_get::<_, i32>(0)
        })
        .await;
        assert_eq!((classify(&error), count), (Verdict::STOP, 1), "{error:?}");
    }
}
