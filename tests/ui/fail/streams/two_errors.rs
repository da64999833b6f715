use futures::stream::{self, BoxStream, StreamExt};
use retry_runtime::retry;

#[retry(stream = "first", on = |_| true)]
async fn numbers() -> Result<BoxStream<'static, Result<u32, String>>, std::io::Error> {
    Ok(stream::iter([Ok(1)]).boxed())
}

fn main() {}
