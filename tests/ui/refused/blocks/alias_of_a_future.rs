use futures::future::BoxFuture;
use retry_runtime::retry;

type RedisFuture<'a, T> = BoxFuture<'a, Result<T, String>>;
type BoxFut<T> = BoxFuture<'static, Result<T, String>>;
type EventStream = futures::stream::BoxStream<'static, Result<String, String>>;

struct Client;

#[retry(max = 3, on = |_: &String| true)]
impl Client {
    fn alias(&self) -> RedisFuture<'_, u32> {
        Box::pin(async { Ok(3) })
    }

    fn short(&self) -> BoxFut<u32> {
        Box::pin(async { Ok(3) })
    }

    fn events(&self) -> EventStream {
        Box::pin(futures::stream::empty())
    }

    fn unpinned(&self) -> Box<dyn Future<Output = Result<u32, String>> + Unpin> {
        Box::new(self.short())
    }

    #[retry(max = 5)]
    fn marked(&self) -> RedisFuture<'_, u32> {
        self.alias()
    }

    #[retry(skip)]
    fn skipped(&self) -> BoxFut<u32> {
        self.short()
    }

    fn by_its_name(&self) -> BoxFuture<'_, Result<u32, String>> {
        self.alias()
    }
}

fn main() {}
