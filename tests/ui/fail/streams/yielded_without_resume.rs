use futures::stream::{self, Stream, StreamExt};
use retry_runtime::retry;

#[retry(stream = "first", attempt = attempt, on = |_| true)]
fn numbers() -> impl Stream<Item = Result<u32, String>> {
    stream::iter([Ok(1)]).skip(attempt.yielded())
}

fn main() {}
