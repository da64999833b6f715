use futures::stream::{self, Stream};
use retry_runtime::retry;

#[derive(Debug)]
struct Broken;

#[retry(stream = "first")]
fn numbers() -> impl Stream<Item = Result<u32, Broken>> {
    stream::iter([Ok(1)])
}

fn main() {}
