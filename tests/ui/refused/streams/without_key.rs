use std::pin::Pin;

use futures::stream::{self, BoxStream, Stream, StreamExt};
use retry_runtime::retry;

type Item = Result<u32, String>;

#[retry(on = |_| true)]
fn bare() -> impl Stream<Item = Item> + Send {
    stream::iter([Ok(1)])
}

#[retry(on = |_| true)]
fn boxed() -> Pin<Box<dyn Stream<Item = Item>>> {
    Box::pin(stream::iter([Ok(1)]))
}

#[retry(on = |_| true)]
async fn awaited() -> BoxStream<'static, Item> {
    stream::iter([Ok(1)]).boxed()
}

fn main() {}
