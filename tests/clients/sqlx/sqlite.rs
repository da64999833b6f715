//! SQLite, with two connections that write.

use retry_runtime::on;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};
use sqlx::{ConnectOptions, Connection, Error};
use support::prelude::*;
use tempfile::TempDir;

/// A database with a table of one row, and two connections to it that don't wait for each other.
async fn database() -> (TempDir, [SqliteConnection; 2]) {
    let folder = TempDir::new().unwrap();
    let options = SqliteConnectOptions::new()
        .filename(folder.path().join("test.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(Duration::ZERO);
    let mut first = options.connect().await.unwrap();
    execute(&mut first, "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)").await.unwrap();
    let second = options.connect().await.unwrap();
    (folder, [first, second])
}

async fn execute(connection: &mut SqliteConnection, statements: &'static str) -> Result<(), Error> {
    sqlx::raw_sql(statements).execute(connection).await.map(drop)
}

fn code(error: &Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

#[tokio::test]
async fn a_locked_database_is_waited_for() {
    #[retry(max = 3, backoff = "none")]
    async fn add(
        writer: &mut SqliteConnection,
        other: &mut SqliteConnection,
        attempts: &Cell<u32>,
    ) -> Result<(), Error> {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 3 {
            execute(other, "COMMIT").await?;
        }
        execute(writer, "INSERT INTO t VALUES (2)").await
    }

    let (_folder, [mut other, mut writer]) = database().await;
    execute(&mut other, "BEGIN IMMEDIATE; INSERT INTO t VALUES (3)").await.unwrap();
    let locked = execute(&mut writer, "INSERT INTO t VALUES (2)").await.unwrap_err();
    assert_eq!((code(&locked).as_deref(), locked.classify()), (Some("5"), Verdict::TRANSIENT));

    let attempts = Cell::new(0);
    add(&mut writer, &mut other, &attempts).await.unwrap();
    assert_eq!(attempts.get(), 3);
}

#[tokio::test]
async fn a_snapshot_that_is_out_of_date_needs_the_whole_transaction() {
    #[retry(max = 3, backoff = "none", on = on::transaction)]
    async fn add(
        connection: &mut SqliteConnection,
        other: &mut SqliteConnection,
        attempts: &Cell<u32>,
    ) -> Result<(), Error> {
        attempts.set(attempts.get() + 1);
        let mut transaction = connection.begin().await?;
        sqlx::query("SELECT n FROM t").fetch_all(&mut *transaction).await?;
        if attempts.get() == 1 {
            execute(other, "UPDATE t SET n = n + 1").await?;
        }
        execute(&mut transaction, "UPDATE t SET n = n * 10").await?;
        transaction.commit().await
    }

    let (_folder, [mut other, mut connection]) = database().await;
    let attempts = Cell::new(0);
    add(&mut connection, &mut other, &attempts).await.unwrap();
    assert_eq!(attempts.get(), 2);
    let sum = sqlx::query_scalar::<_, i64>("SELECT n FROM t").fetch_one(&mut other).await;
    assert_eq!(sum.unwrap(), 20);
}

#[tokio::test]
async fn a_wrong_statement_stops() {
    let (_folder, [mut connection, _]) = database().await;
    let error = execute(&mut connection, "INSERT INTO u VALUES (1)").await.unwrap_err();
    assert_eq!(error.classify(), Verdict::STOP);
    assert_eq!(on::transaction(&error), Verdict::STOP);
}
