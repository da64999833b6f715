use futures::stream::{self, Stream};
use retry_runtime::retry;

#[retry(stream = "resume", attempt = _attempt, fallback = async |gave_up| Err(gave_up.into_error()), on = |_| true)]
fn events() -> impl Stream<Item = Result<u32, String>> {
    stream::iter([Ok(1)])
}

fn main() {}
