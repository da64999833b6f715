use futures::stream::{self, Stream};
use retry_runtime::retry;

#[retry(stream, until = |_| true, on = |_| true)]
fn one() -> impl Stream<Item = Result<u32, String>> {
    stream::iter([Ok(1)])
}

#[retry(stream, fallback = async |gave_up| Err(gave_up.into_error()), on = |_| true)]
fn other() -> impl Stream<Item = Result<u32, String>> {
    stream::iter([Ok(1)])
}

fn main() {}
