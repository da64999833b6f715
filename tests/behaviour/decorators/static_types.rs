//! Streams and futures that are `'static`, although the method borrows. They own clones of the borrowed values.

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, Stream, StreamExt};
use support::prelude::*;

use crate::decorators::Busy;

#[retry(wrapper = Retrying, max = 3, base = "1s", jitter = "none", on = |_| true)]
trait Store {
    #[retry(stream = "buffer")]
    fn list(&self, prefix: Option<&str>) -> BoxStream<'static, Result<String, Busy>>;

    #[retry(stream = "first")]
    fn after(
        &self,
        prefix: Option<&Vec<u8>>,
        offset: &str,
        numbers: &[u32],
        owned: String,
    ) -> impl Stream<Item = Result<String, Busy>> + Send + 'static;

    fn length(&self, name: &str) -> BoxFuture<'static, Result<usize, Busy>>;

    fn width(&self, name: &str) -> impl Future<Output = Result<usize, Busy>> + Send + 'static;

    /// It needs no clone.
    #[retry(stream = "first")]
    async fn awaited(&self) -> Result<BoxStream<'static, Result<String, Busy>>, Busy>;
}

#[derive(Clone, Debug, Default)]
struct Memory {
    openings: Arc<AtomicU32>,
}

impl Memory {
    /// Counts, and returns the number of a failure.
    fn fails(&self) -> Option<Busy> {
        let opening = self.openings.fetch_add(1, Ordering::Relaxed) + 1;
        (opening < 3).then_some(Busy(opening))
    }

    fn open(&self, items: Vec<String>) -> BoxStream<'static, Result<String, Busy>> {
        let failed = self.fails().map(Err);
        stream::iter(failed.into_iter().chain(items.into_iter().map(Ok))).boxed()
    }

    fn openings(&self) -> u32 {
        self.openings.load(Ordering::Relaxed)
    }
}

impl Store for Memory {
    fn after(
        &self,
        prefix: Option<&Vec<u8>>,
        offset: &str,
        numbers: &[u32],
        owned: String,
    ) -> impl Stream<Item = Result<String, Busy>> + Send + 'static {
        let (prefix, numbers) = (format!("{prefix:?}"), format!("{numbers:?}"));
        self.open(vec![prefix, offset.to_owned(), numbers, owned])
    }

    scripted! {
        fn list(&self, prefix: Option<&str>) -> BoxStream<'static, Result<String, Busy>> =
            self.open(prefix.map(str::to_owned).into_iter().collect());
        fn length(&self, name: &str) -> BoxFuture<'static, Result<usize, Busy>> = {
            let (client, length) = (self.clone(), name.len());
            Box::pin(async move { client.fails().map_or(Ok(length), Err) })
        };
        fn width(&self, name: &str) -> impl Future<Output = Result<usize, Busy>> + Send + 'static = self.length(name);
        async fn awaited(&self) -> Result<BoxStream<'static, Result<String, Busy>>, Busy> =
            Ok(self.open(vec![String::from("awaited")]));
    }
}

fn assert_static<T: Send + 'static>(stream: T) -> T {
    stream
}

async fn all(stream: impl Stream<Item = Result<String, Busy>>) -> Vec<String> {
    stream.map(Result::unwrap).collect().await
}

#[tokio::test(start_paused = true)]
async fn streams_and_futures_outlive_the_decorator_and_the_arguments() {
    let recording = testing::record();
    let client = Memory::default();
    let stream = Retrying::new(client.clone()).list(Some(&String::from("prefix")));
    let stream = assert_static(stream);
    assert_eq!(client.openings(), 0);
    assert_eq!(all(stream).await, ["prefix"]);
    assert_eq!(client.openings(), 3);
    assert_eq!(recording.delays(), [1, 2].map(secs));

    let client = Memory::default();
    let stream = {
        let store = Retrying::new(client.clone());
        let (prefix, offset, numbers) = (vec![1], String::from("offset"), [2, 3]);
        store.after(Some(&prefix), &offset, &numbers, String::from("owned"))
    };
    let stream = assert_static(stream);
    let expected = ["Some([1])", "offset", "[2, 3]", "owned"];
    assert_eq!(all(stream).await, expected);
    assert_eq!(client.openings(), 3);

    let [first, second] = [(); 2].map(|()| Memory::default());
    let length = assert_static(Retrying::new(first.clone()).length(&String::from("name")));
    let width = assert_static(Retrying::new(second.clone()).width(&String::from("name")));
    assert_eq!((first.openings(), second.openings()), (0, 0));
    assert_eq!((length.await, width.await), (Ok(4), Ok(4)));
    assert_eq!((first.openings(), second.openings()), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn static_streams_use_the_run_time_policy() {
    let store = Retrying::with_policy(Memory::default(), Policy::none().max(1));
    let items: Vec<_> = store.list(None).collect().await;
    assert_eq!(items, [Err(Busy(2))]);
}

#[tokio::test(start_paused = true)]
async fn an_async_method_clones_nothing() {
    let store = Retrying::new(Memory::default());
    let stream = assert_static(store.awaited().await.unwrap());
    assert_eq!(all(stream).await, ["awaited"]);
}
