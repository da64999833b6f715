use retry_runtime::retry;

use futures::stream::{self, BoxStream, Stream, StreamExt};

struct Client(u32);

impl Client {
    #[retry(stream, on = |_| true)]
    fn boxed(&self) -> BoxStream<'static, Result<u32, String>> {
        stream::iter([Ok(self.0)]).boxed()
    }

    #[retry(stream = "buffer", on = |_| true)]
    fn opaque(name: &str) -> impl Stream<Item = Result<usize, String>> + 'static {
        stream::iter([Ok(name.len())])
    }
}

fn main() {}
