use futures::future::BoxFuture;
use retry_runtime::retry;

type RedisFuture<'a, T> = BoxFuture<'a, Result<T, String>>;

#[retry(on = |_: &String| true)]
fn fetch(key: &str) -> RedisFuture<'_, u32> {
    Box::pin(async move { key.parse().map_err(|_| String::from(key)) })
}

fn main() {
    let _ = fetch("3");
}
