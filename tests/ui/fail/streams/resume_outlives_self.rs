use futures::stream::{self, BoxStream, StreamExt};
use retry_runtime::retry;

struct Client(u32);

impl Client {
    #[retry(stream = "resume", attempt = _attempt, on = |_| true)]
    async fn numbers(&self) -> Result<BoxStream<'static, Result<u32, String>>, String> {
        let upto = self.0;
        Ok(stream::iter(0..upto).map(Ok).boxed())
    }
}

fn main() {}
