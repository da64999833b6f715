use futures::stream::{self, Stream};
use retry_runtime::retry;

#[retry(stream, fallback = async |_| Ok(stream::iter(["no result"])), on = |_| true)]
fn other_items() -> impl Stream<Item = Result<u32, String>> {
    stream::iter([Ok(1)])
}

#[retry(stream = "buffer", fallback = async |_| Ok(5), on = |_| true)]
fn no_stream() -> impl Stream<Item = Result<u32, String>> {
    stream::iter([Ok(1)])
}

fn main() {}
