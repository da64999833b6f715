use retry_runtime::retry;

/// As in tower-service.
#[retry(wrapper = RetryService, of = tower_service::Service, on = |_| true)]
trait Service<Request> {
    type Response;
    type Error;
    type Future: Future<Output = Result<Self::Response, Self::Error>>;
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>>;
    fn call(&mut self, req: Request) -> Self::Future;
}

/// As in sqlx, shortened.
#[retry(wrapper = RetryExecutor, of = sqlx::Executor, on = |_| true)]
trait Executor<'c> {
    type Database;
    fn execute<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<u64, Error>>;
}

fn main() {}
