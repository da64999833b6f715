use retry_runtime::on;
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlx::{Connection, Error};
use support::prelude::*;
use support::verdicts::BROKEN;
use tokio::sync::Barrier;

use crate::databases::{self, control, restart_postgres, setting};

fn url() -> String {
    setting("DATABASES_POSTGRES")
}

async fn connect() -> Result<PgConnection, Error> {
    PgConnection::connect(&url()).await
}

async fn execute(statements: &'static str) -> Result<(), Error> {
    let mut connection = connect().await?;
    sqlx::raw_sql(statements).execute(&mut connection).await?;
    Ok(())
}

fn code(error: &Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

async fn attempts<T>(call: impl AsyncFn() -> Result<T, Error>) -> (Error, u32) {
    databases::attempts(Error::classify, call).await
}

/// The server dies during the first attempt, and is running again before the last.
#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_server_killed_in_the_middle_of_a_call_is_survived() {
    #[retry(max = 500, backoff = "fixed", base = "10ms", jitter = "none", on = |error: &Error| {
        verdicts.push(error.classify());
        error.classify()
    })]
    async fn answer(verdicts: &mut Vec<Verdict>) -> Result<i32, Error> {
        let mut connection = connect().await?;
        if verdicts.is_empty() {
            let sleep = sqlx::raw_sql("SELECT pg_sleep(30)");
            sleep.execute(&mut connection).await?;
        }
        sqlx::query_scalar("SELECT 42").fetch_one(&mut connection).await
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

/// Until another connection is in `pg_sleep`.
async fn sleeping() {
    let mut connection = connect().await.unwrap();
    let query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    while sqlx::query_scalar::<_, i64>(query).fetch_one(&mut connection).await.unwrap() == 0 {
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_connection_that_the_server_ends_is_ambiguous() {
    let end = || execute("SELECT pg_terminate_backend(pg_backend_pid())");
    let (error, attempts) = attempts(async || end().await).await;
    assert_eq!(code(&error).as_deref(), Some("57P01"));
    assert_eq!((error.classify(), attempts), (BROKEN, 3));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_server_that_refuses_connections_is_transient() {
    let held = connect().await.unwrap();
    control(&["postgres", "refuse"]);
    let (error, count) = attempts(async || {
        // The signal takes a moment to arrive.
        while connect().await.is_ok() {}
        connect().await
    })
    .await;
    held.close().await.unwrap();
    assert_eq!(code(&error).as_deref(), Some("57P03"), "{error}");
    assert_eq!((error.classify(), count), (Verdict::TRANSIENT, 3));
    while !matches!(connect().await, Err(Error::Io(_))) {
        sleep(Duration::from_millis(5)).await;
    }
    control(&["postgres", "start"]);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_pool_without_a_free_connection_is_transient() {
    let patience = Duration::from_millis(20);
    let options = PgPoolOptions::new().max_connections(1).acquire_timeout(patience);
    let pool = options.connect(&url()).await.unwrap();
    let held = pool.acquire().await.unwrap();
    let (error, count) = attempts(async || pool.acquire().await).await;
    drop(held);
    assert!(matches!(error, Error::PoolTimedOut), "{error}");
    assert_eq!((error.classify(), count), (Verdict::TRANSIENT, 3));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_callers_mistake_stops() {
    let statements = [
        ("SELEKT 1", "42601"),
        ("SELECT * FROM no_such_table", "42P01"),
        ("SELECT 1 / 0", "22012"),
        ("CREATE TEMP TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1), (1)", "23505"),
        ("CREATE TEMP TABLE t (id int NOT NULL); INSERT INTO t VALUES (NULL)", "23502"),
    ];
    for (statement, expected) in statements {
        let (error, count) = attempts(async || execute(statement).await).await;
        assert_eq!(code(&error).as_deref(), Some(expected));
        assert_eq!((error.classify(), count), (Verdict::STOP, 1), "{error}");
    }
    let (error, count) = attempts(async || {
        let mut connection = connect().await?;
        let none = sqlx::query_scalar::<_, i32>("SELECT 1 WHERE false");
        none.fetch_one(&mut connection).await
    })
    .await;
    assert!(matches!(error, Error::RowNotFound), "{error}");
    assert_eq!((error.classify(), count), (Verdict::STOP, 1));
    let (error, count) = attempts(async || {
        let mut connection = connect().await?;
        let text = sqlx::query_scalar::<_, i32>("SELECT 'text'");
        text.fetch_one(&mut connection).await
    })
    .await;
    assert!(matches!(error, Error::ColumnDecode { .. }), "{error}");
    assert_eq!((error.classify(), count), (Verdict::STOP, 1));
}

/// Two accounts. Either may be overdrawn as long as their sum is not.
async fn accounts() -> PgPool {
    let reset =
        "DROP TABLE IF EXISTS accounts; CREATE TABLE accounts (id int PRIMARY KEY, amount int);
        INSERT INTO accounts VALUES (1, 60), (2, 60)";
    execute(reset).await.unwrap();
    PgPool::connect(&url()).await.unwrap()
}

/// Takes 100 from an account if both accounts together have enough. Returns true if it did.
#[retry(max = 5, base = "5ms", on = on::transaction)]
async fn withdraw(
    pool: &PgPool,
    account: i32,
    attempts: &mut u32,
    both_have_read: &Barrier,
) -> Result<bool, Error> {
    *attempts += 1;
    let mut transaction = pool.begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE").await?;
    let sum: i64 =
        sqlx::query_scalar("SELECT sum(amount) FROM accounts").fetch_one(&mut *transaction).await?;
    if *attempts == 1 {
        both_have_read.wait().await;
    }
    if sum >= 100 {
        sqlx::query("UPDATE accounts SET amount = amount - 100 WHERE id = $1")
            .bind(account)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(sum >= 100)
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_serialization_failure_succeeds_by_repeating_the_whole_transaction() {
    let pool = accounts().await;
    let both = Barrier::new(2);
    let (mut one, mut two) = (0, 0);
    let (first, second) =
        tokio::join!(withdraw(&pool, 1, &mut one, &both), withdraw(&pool, 2, &mut two, &both));
    assert!(first.unwrap() ^ second.unwrap(), "the money was taken once");
    assert_eq!(one + two, 3);
    let sum: i64 =
        sqlx::query_scalar("SELECT sum(amount) FROM accounts").fetch_one(&pool).await.unwrap();
    assert_eq!(sum, 20);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by .ci/databases"]
async fn a_deadlock_succeeds_by_repeating_the_whole_transaction() {
    #[retry(max = 5, base = "5ms", on = on::transaction)]
    async fn move_one(
        pool: &PgPool,
        ids: [i32; 2],
        attempts: &mut u32,
        both_have_locked: &Barrier,
    ) -> anyhow::Result<()> {
        *attempts += 1;
        let mut transaction = pool.begin().await?;
        for (id, change) in ids.into_iter().zip([-1, 1]) {
            sqlx::query("UPDATE accounts SET amount = amount + $2 WHERE id = $1")
                .bind(id)
                .bind(change)
                .execute(&mut *transaction)
                .await?;
            if *attempts == 1 && change == -1 {
                both_have_locked.wait().await;
            }
        }
        transaction.commit().await?;
        Ok(())
    }

    let pool = accounts().await;
    let both = Barrier::new(2);
    let (mut one, mut two) = (0, 0);
    let there = move_one(&pool, [1, 2], &mut one, &both);
    let back = move_one(&pool, [2, 1], &mut two, &both);
    let (there, back) = tokio::join!(there, back);
    there.and(back).unwrap();
    assert_eq!(one + two, 3);
}
