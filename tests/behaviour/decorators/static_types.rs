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
    fn open(&self, items: Vec<String>) -> BoxStream<'static, Result<String, Busy>> {
        let opening = self.openings.fetch_add(1, Ordering::Relaxed) + 1;
        let items = items.into_iter().map(Ok);
        if opening < 3 {
            stream::iter([Err(Busy(opening))])
                .chain(stream::iter(items))
                .boxed()
        } else {
            stream::iter(items).boxed()
        }
    }
}

impl Store for Memory {
    fn list(&self, prefix: Option<&str>) -> BoxStream<'static, Result<String, Busy>> {
        self.open(prefix.map(str::to_owned).into_iter().collect())
    }

    fn after(
        &self,
        prefix: Option<&Vec<u8>>,
        offset: &str,
        numbers: &[u32],
        owned: String,
    ) -> impl Stream<Item = Result<String, Busy>> + Send + 'static {
        self.open(vec![
            format!("{prefix:?}"),
            offset.to_owned(),
            format!("{numbers:?}"),
            owned,
        ])
    }

    fn length(&self, name: &str) -> BoxFuture<'static, Result<usize, Busy>> {
        let (openings, length) = (Arc::clone(&self.openings), name.len());
        Box::pin(async move {
            match openings.fetch_add(1, Ordering::Relaxed) + 1 {
                3 => Ok(length),
                attempt => Err(Busy(attempt)),
            }
        })
    }

    fn width(&self, name: &str) -> impl Future<Output = Result<usize, Busy>> + Send + 'static {
        self.length(name)
    }

    async fn awaited(&self) -> Result<BoxStream<'static, Result<String, Busy>>, Busy> {
        Ok(self.open(vec![String::from("awaited")]))
    }
}

fn assert_static<T: Send + 'static>(stream: T) -> T {
    stream
}

async fn all(stream: impl Stream<Item = Result<String, Busy>>) -> Vec<String> {
    stream.map(Result::unwrap).collect().await
}

#[tokio::test(start_paused = true)]
async fn the_stream_outlives_the_decorator_and_the_arguments() {
    let recording = testing::record();
    let openings = Arc::new(AtomicU32::new(0));
    let stream = {
        let client = Memory {
            openings: Arc::clone(&openings),
        };
        let prefix = String::from("prefix");
        assert_static(Retrying::new(client).list(Some(&prefix)))
    };
    assert_eq!(openings.load(Ordering::Relaxed), 0);
    assert_eq!(all(stream).await, ["prefix"]);
    assert_eq!(openings.load(Ordering::Relaxed), 3);
    assert_eq!(recording.delays(), [1, 2].map(Duration::from_secs));

    let store = Retrying::new(Memory::default());
    let stream = {
        let (prefix, offset, numbers) = (vec![1], String::from("offset"), [2, 3]);
        store.after(Some(&prefix), &offset, &numbers, String::from("owned"))
    };
    let stream = assert_static(stream);
    let expected = ["Some([1])", "offset", "[2, 3]", "owned"];
    assert_eq!(all(stream).await, expected);
    assert_eq!(store.inner().openings.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_static_future_outlives_the_decorator_and_the_arguments() {
    for opens in [Retrying::length_of, Retrying::width_of] {
        let openings = Arc::new(AtomicU32::new(0));
        let client = Memory {
            openings: Arc::clone(&openings),
        };
        let future = opens(Retrying::new(client));
        assert_eq!(openings.load(Ordering::Relaxed), 0);
        assert_eq!(future.await, Ok(4));
        assert_eq!(openings.load(Ordering::Relaxed), 3);
    }
}

impl Retrying<Memory> {
    fn length_of(self) -> BoxFuture<'static, Result<usize, Busy>> {
        self.length(&String::from("name"))
    }

    fn width_of(self) -> BoxFuture<'static, Result<usize, Busy>> {
        Box::pin(self.width(&String::from("name")))
    }
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
