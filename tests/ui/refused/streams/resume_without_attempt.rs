use futures::stream::{self, Stream};
use retry_runtime::retry;

#[retry(stream = "resume", on = |_| true)]
fn numbers() -> impl Stream<Item = Result<u32, String>> {
    stream::iter([Ok(1)])
}

fn main() {}
