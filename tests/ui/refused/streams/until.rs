use futures::stream::{self, Stream};
use retry_runtime::retry;

#[retry(stream, until = |_| true, abort = token.cancelled(), on = |_| true)]
fn one() -> impl Stream<Item = Result<u32, String>> {
    stream::iter([Ok(1)])
}

fn main() {}
