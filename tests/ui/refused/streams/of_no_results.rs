use futures::stream::{self, Stream};
use retry_runtime::retry;

#[retry(stream = "first", on = |_| true)]
fn numbers() -> impl Stream<Item = u32> {
    stream::iter([1])
}

fn main() {}
