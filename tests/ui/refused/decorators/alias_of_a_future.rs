use futures::future::BoxFuture;
use retry_runtime::retry;

type CallFuture<'a> = BoxFuture<'a, Result<u32, String>>;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    fn complete(&self) -> CallFuture<'_>;

    fn embed(&self) -> BoxFuture<'_, Result<u32, String>>;
}

fn main() {}
