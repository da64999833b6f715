use futures::future::BoxFuture;
use retry_runtime::retry;

type RedisFuture<'a, T> = BoxFuture<'a, Result<T, String>>;

#[retry(on = |_: &String| true)]
fn fetch() -> RedisFuture<'static, u32> {
    Box::pin(async { Ok(3) })
}

fn main() {
    let _ = fetch();
}
