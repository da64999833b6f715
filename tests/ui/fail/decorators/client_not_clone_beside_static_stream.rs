use futures::stream::{self, BoxStream, StreamExt};
use retry_runtime::retry;

#[retry(wrapper = Retrying, stream = "first", on = |_: &String| true)]
trait Store {
    fn list(&self) -> BoxStream<'static, Result<u32, String>>;
}

struct Client;

impl Store for Client {
    fn list(&self) -> BoxStream<'static, Result<u32, String>> {
        stream::empty().boxed()
    }
}

fn main() {
    let _ = Retrying::new(Client);
}
