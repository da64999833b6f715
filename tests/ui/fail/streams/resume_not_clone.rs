use futures::stream::{self, Stream};
use retry_runtime::retry;

struct Chunk;

#[retry(stream = "resume", attempt = attempt, on = |_| true)]
fn chunks() -> impl Stream<Item = Result<Chunk, String>> {
    stream::iter([Ok(Chunk)]).skip(attempt.yielded())
}

use futures::StreamExt;

fn main() {}
