//! Connections to Redis, blocking and async.

use std::pin::Pin;

use redis::{Cmd, ConnectionLike as Blocking, Pipeline, RedisError, RedisResult, Value};
use retry_runtime::retry;

use crate::Attempts;

#[derive(Debug, Default)]
struct Server(Attempts);

impl Server {
    fn answer(&self) -> RedisResult<Value> {
        let closed = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        self.0.make(Value::Okay, RedisError::from(closed))
    }
}

mod blocking {
    use super::*;

    #[retry(wrapper = RetryRedis, of = Blocking, max = 3, backoff = "none", on = |_| true)]
    trait ConnectionLike {
        fn req_packed_command(&mut self, cmd: &[u8]) -> RedisResult<Value>;
        fn req_packed_commands(
            &mut self,
            cmd: &[u8],
            offset: usize,
            count: usize,
        ) -> RedisResult<Vec<Value>>;
        fn req_command(&mut self, cmd: &Cmd) -> RedisResult<Value>;
        fn get_db(&self) -> i64;
        fn supports_pipelining(&self) -> bool;
        fn check_connection(&mut self) -> bool;
        fn is_open(&self) -> bool;
    }

    impl Blocking for Server {
        fn req_packed_command(&mut self, _: &[u8]) -> RedisResult<Value> {
            self.answer()
        }

        fn req_packed_commands(&mut self, _: &[u8], _: usize, _: usize) -> RedisResult<Vec<Value>> {
            Ok(vec![self.answer()?])
        }

        fn get_db(&self) -> i64 {
            0
        }

        fn check_connection(&mut self) -> bool {
            true
        }

        fn is_open(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_command() {
        let mut connection = RetryRedis::new(Server::default());
        redis::cmd("PING").exec(&mut connection).unwrap();
        assert_eq!(connection.inner().0.made(), 3);
    }
}

mod asynchronous {
    use redis::aio::ConnectionLike as Original;

    use super::*;

    /// `RedisFuture` of the original, written out.
    type Answer<'a, T> = Pin<Box<dyn Future<Output = RedisResult<T>> + Send + 'a>>;

    #[retry(wrapper = RetryRedis, of = Original, max = 3, backoff = "none", on = |_| true)]
    trait ConnectionLike {
        fn req_packed_command<'a>(
            &'a mut self,
            cmd: &'a Cmd,
        ) -> Pin<Box<dyn Future<Output = RedisResult<Value>> + Send + 'a>>;
        fn req_packed_commands<'a>(
            &'a mut self,
            pipeline: &'a Pipeline,
            offset: usize,
            count: usize,
        ) -> Pin<Box<dyn Future<Output = RedisResult<Vec<Value>>> + Send + 'a>>;
        fn get_db(&self) -> i64;
    }

    impl Original for Server {
        fn req_packed_command<'a>(&'a mut self, _: &'a Cmd) -> Answer<'a, Value> {
            Box::pin(async { self.answer() })
        }

        fn req_packed_commands<'a>(
            &'a mut self,
            _: &'a Pipeline,
            _: usize,
            _: usize,
        ) -> Answer<'a, Vec<Value>> {
            Box::pin(async { Ok(vec![self.answer()?]) })
        }

        fn get_db(&self) -> i64 {
            0
        }
    }

    #[tokio::test]
    async fn a_command() {
        let mut connection = RetryRedis::new(Server::default());
        let command = redis::cmd("PING");
        command.exec_async(&mut connection).await.unwrap();
        assert_eq!(connection.inner().0.made(), 3);
    }
}
