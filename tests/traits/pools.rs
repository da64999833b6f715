//! Connection managers of pools.

use deadpool::managed::{Metrics, RecycleResult};
use retry_runtime::retry;

use crate::Attempts;

#[derive(Debug)]
struct Connection;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused")]
struct Refused;

#[derive(Debug, Default)]
struct Server(Attempts);

impl bb8::ManageConnection for Server {
    type Connection = Connection;
    type Error = Refused;

    async fn connect(&self) -> Result<Connection, Refused> {
        self.0.make(Connection, Refused)
    }

    async fn is_valid(&self, _: &mut Connection) -> Result<(), Refused> {
        Ok(())
    }

    fn has_broken(&self, _: &mut Connection) -> bool {
        false
    }
}

impl deadpool::managed::Manager for Server {
    type Type = Connection;
    type Error = Refused;

    async fn create(&self) -> Result<Connection, Refused> {
        self.0.make(Connection, Refused)
    }

    async fn recycle(&self, _: &mut Connection, _: &Metrics) -> RecycleResult<Refused> {
        Ok(())
    }
}

impl r2d2::ManageConnection for Server {
    type Connection = Connection;
    type Error = Refused;

    fn connect(&self) -> Result<Connection, Refused> {
        self.0.make(Connection, Refused)
    }

    fn is_valid(&self, _: &mut Connection) -> Result<(), Refused> {
        Ok(())
    }

    fn has_broken(&self, _: &mut Connection) -> bool {
        false
    }
}

#[retry(wrapper = RetryBb8, of = bb8::ManageConnection, max = 3, backoff = "none", on = |_| true)]
trait Bb8 {
    type Connection;
    type Error;
    fn connect(&self) -> impl Future<Output = Result<Self::Connection, Self::Error>> + Send;
    #[retry(skip)]
    fn is_valid(
        &self,
        conn: &mut Self::Connection,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
    fn has_broken(&self, conn: &mut Self::Connection) -> bool;
}

#[retry(wrapper = RetryDeadpool, of = deadpool::managed::Manager, max = 3, backoff = "none", on = |_| true)]
trait Deadpool {
    type Type;
    type Error;
    fn create(&self) -> impl Future<Output = Result<Self::Type, Self::Error>> + Send;
    #[retry(skip)]
    fn recycle(
        &self,
        obj: &mut Self::Type,
        metrics: &Metrics,
    ) -> impl Future<Output = RecycleResult<Self::Error>> + Send;
    fn detach(&self, obj: &mut Self::Type);
}

#[retry(wrapper = RetryR2d2, of = r2d2::ManageConnection, max = 3, backoff = "none", on = |_| true)]
trait R2d2 {
    type Connection;
    type Error;
    fn connect(&self) -> Result<Self::Connection, Self::Error>;
    #[retry(skip)]
    fn is_valid(&self, conn: &mut Self::Connection) -> Result<(), Self::Error>;
    fn has_broken(&self, conn: &mut Self::Connection) -> bool;
}

#[tokio::test]
async fn connections_of_each_pool() {
    let attempts = Attempts::default();
    let server = || Server(attempts.clone());

    let pool = bb8::Pool::builder().max_size(1);
    let pool = pool.build(RetryBb8::new(server())).await.unwrap();
    pool.get().await.unwrap();
    assert_eq!(attempts.made(), 3);

    let manager = RetryDeadpool::new(server());
    let pool = deadpool::managed::Pool::<RetryDeadpool<Server>>::builder(manager).max_size(1);
    drop(pool.build().unwrap().get().await.unwrap());
    assert_eq!(attempts.made(), 3);

    let pool = r2d2::Pool::builder().max_size(1);
    let pool = pool.build(RetryR2d2::new(server())).unwrap();
    pool.get().unwrap();
    assert_eq!(attempts.made(), 3);
}
