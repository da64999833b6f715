//! deadpool: failures as its pools report them, classified and counted.

use std::net::SocketAddr;

use deadpool::managed::{HookError, TimeoutType};
use deadpool_postgres::{Manager, Pool, PoolError, Runtime};
use retry_clients::deadpool::pooled;
use retry_clients::tokio_postgres::classify;
use support::loopback::closed_port;
use support::postgres::failing_with;
use support::prelude::*;
use tokio_postgres::{Config, NoTls};

/// A pool of one connection, for which a call waits 20 milliseconds.
fn pool(config: Config) -> Pool {
    let builder = Pool::builder(Manager::new(config, NoTls)).max_size(1);
    let builder = builder.runtime(Runtime::Tokio1);
    builder.wait_timeout(Some(Duration::from_millis(20))).build().unwrap()
}

fn at(address: SocketAddr) -> Pool {
    pool(format!("postgres://test@{address}/test").parse().unwrap())
}

#[retry(max = 2, backoff = "none", on = pooled(classify))]
async fn answer(pool: &Pool, count: &mut u32) -> Result<i32, PoolError> {
    *count += 1;
    let row = pool.get().await?.query_one("SELECT 42", &[]).await?;
    Ok(row.try_get(0)?)
}

#[test]
fn the_pools_own_errors_are_classified() {
    type Error = deadpool::managed::PoolError<Failure>;
    let of = pooled(Failure::classify);
    let message = HookError::message("no");
    for (error, expected) in [
        (Error::Timeout(TimeoutType::Wait), Verdict::TRANSIENT),
        (Error::Timeout(TimeoutType::Create), Verdict::TRANSIENT),
        (Error::Timeout(TimeoutType::Recycle), Verdict::TRANSIENT),
        (Error::Backend(THROTTLED), Verdict::THROTTLED),
        (Error::PostCreateHook(HookError::Backend(THROTTLED)), Verdict::THROTTLED),
        (Error::PostCreateHook(message), Verdict::STOP),
        (Error::Closed, Verdict::STOP),
        (Error::NoRuntimeSpecified, Verdict::STOP),
    ] {
        assert_eq!(of(&error), expected, "{error:?}");
    }
}

#[tokio::test]
async fn the_clients_errors_in_a_pool_are_classified() {
    for (server, attempts) in [("53300", 3), ("28P01", 1)].map(|(c, a)| (failing_with(c), a)) {
        let mut count = 0;
        answer(&at(server.address), &mut count).await.unwrap_err();
        assert_eq!((count, server.accepted()), (attempts, attempts));
    }
    let mut count = 0;
    answer(&at(closed_port()), &mut count).await.unwrap_err();
    assert_eq!(count, 3);
}

mod database {
    use tokio_postgres::Error;

    use super::*;
    use crate::databases::{restart_postgres, setting};
    use crate::tokio_postgres::database::sleeping;

    fn real() -> Pool {
        pool(setting("DATABASES_POSTGRES").parse().unwrap())
    }

    #[tokio::test]
    #[ignore = "needs PostgreSQL: run by .ci/databases"]
    async fn a_pool_without_a_free_connection_is_waited_for() {
        let pool = real();
        let held = pool.get().await.unwrap();
        let mut count = 0;
        let error = answer(&pool, &mut count).await.unwrap_err();
        assert!(matches!(error, PoolError::Timeout(TimeoutType::Wait)));
        assert_eq!(count, 3);
        drop(held);
        assert_eq!(answer(&pool, &mut count).await.unwrap(), 42);
    }

    /// The broken connection goes back to the pool, which creates a new one.
    #[tokio::test]
    #[ignore = "needs PostgreSQL: run by .ci/databases"]
    async fn a_server_that_is_restarted_is_survived() {
        #[retry(max = 500, backoff = "fixed", base = "10ms", jitter = "none", on = pooled(|error: &Error| {
            verdicts.borrow_mut().push(classify(error));
            classify(error)
        }))]
        async fn answer(pool: &Pool, verdicts: &RefCell<Vec<Verdict>>) -> Result<i32, PoolError> {
            let client = pool.get().await?;
            if verdicts.borrow().is_empty() {
                client.batch_execute("SELECT pg_sleep(30)").await?;
            }
            Ok(client.query_one("SELECT 42", &[]).await?.try_get(0)?)
        }

        let pool = real();
        let verdicts = RefCell::default();
        let restart = async {
            sleeping().await;
            restart_postgres().await;
        };
        let (answer, ()) = tokio::join!(answer(&pool, &verdicts), restart);
        assert_eq!(answer.unwrap(), 42);
        assert!(verdicts.into_inner().contains(&Verdict::TRANSIENT));
    }
}
