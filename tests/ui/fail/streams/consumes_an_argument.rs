use futures::stream::{self, Stream};
use retry_runtime::retry;

#[retry(stream = "first", on = |_| true)]
fn numbers(upto: Vec<u32>) -> impl Stream<Item = Result<u32, String>> {
    stream::iter(upto.into_iter().map(Ok))
}

fn main() {}
