//! Methods that return streams.

use async_trait::async_trait;
use futures::{Stream, StreamExt, stream};
use support::prelude::*;

use crate::decorators::{Busy, SharedFlaky};

type Items = Vec<Result<u32, Busy>>;

#[retry(wrapper = Retrying, max = 3, backoff = "none", on = |_| true)]
trait Client {
    #[retry(stream = "first")]
    fn first(&self, prompt: String) -> impl Stream<Item = Result<u32, Busy>>;

    #[retry(stream = "buffer")]
    fn buffered<'a>(
        &'a self,
        prompt: &'a str,
    ) -> Pin<Box<dyn Stream<Item = Result<u32, Busy>> + 'a>>;

    /// The opening alone.
    async fn opened(&self) -> Result<impl Stream<Item = Result<u32, Busy>>, Busy>;

    #[retry(stream = "first")]
    fn exclusive(&mut self) -> impl Stream<Item = Result<u32, Busy>>;

    #[retry(stream = "buffer")]
    fn exclusive_buffered(&mut self) -> Pin<Box<dyn Stream<Item = Result<u32, Busy>> + '_>>;

    #[retry(skip)]
    fn skipped(&self) -> impl Stream<Item = Result<u32, Busy>>;
}

/// Each opening counts; the first two fail, at the item of that number.
struct Flaky {
    openings: Cell<u32>,
    fails_at: u32,
}

impl Flaky {
    fn new(fails_at: u32) -> Retrying<Self> {
        let openings = Cell::new(0);
        Retrying::new(Self { openings, fails_at })
    }

    fn open(&self) -> impl Stream<Item = Result<u32, Busy>> + use<> {
        let opening = self.openings.get() + 1;
        self.openings.set(opening);
        let fails_at = if opening < 3 { self.fails_at } else { u32::MAX };
        stream::iter((0..3).map(move |item| {
            if item == fails_at {
                Err(Busy(opening))
            } else {
                Ok(item)
            }
        }))
    }
}

impl Client for Flaky {
    fn buffered<'a>(
        &'a self,
        prompt: &'a str,
    ) -> Pin<Box<dyn Stream<Item = Result<u32, Busy>> + 'a>> {
        assert_eq!(prompt, "hello");
        Box::pin(self.open())
    }

    scripted! {
        fn first(&self, prompt: String) -> impl Stream<Item = Result<u32, Busy>> = {
            assert_eq!(prompt, "hello");
            self.open()
        };
        async fn opened(&self) -> Result<impl Stream<Item = Result<u32, Busy>>, Busy> = {
            let opened = self.open();
            match self.openings.get() {
                3 => Ok(opened),
                opening => Err(Busy(opening)),
            }
        };
        fn exclusive(&mut self) -> impl Stream<Item = Result<u32, Busy>> = {
            let opening: &mut Cell<u32> = &mut self.openings;
            *opening.get_mut() += 1;
            let attempt = opening.get();
            stream::iter((0..3).map(move |item| match attempt {
                3 => Ok(item),
                _ => Err(Busy(opening.get())),
            }))
        };
        fn exclusive_buffered(&mut self) -> Pin<Box<dyn Stream<Item = Result<u32, Busy>> + '_>> =
            Box::pin(self.exclusive());
        fn skipped(&self) -> impl Stream<Item = Result<u32, Busy>> = self.open();
    }
}

fn whole() -> (Items, u32) {
    (vec![Ok(0), Ok(1), Ok(2)], 3)
}

/// The items, and the number of openings.
async fn collected(
    client: &Retrying<Flaky>,
    items: impl Stream<Item = Result<u32, Busy>>,
) -> (Items, u32) {
    (items.collect().await, client.inner().openings.get())
}

#[tokio::test]
async fn until_the_first_item_or_only_the_opening_or_not_at_all() {
    let client = Flaky::new(0);
    let items = client.first(String::from("hello"));
    assert_eq!(collected(&client, items).await, whole());
    let client = Flaky::new(1);
    let items = client.first(String::from("hello")).take(2);
    let expected = (vec![Ok(0), Err(Busy(1))], 1);
    assert_eq!(collected(&client, items).await, expected);

    let client = Flaky::new(9);
    let items = client.opened().await.unwrap();
    assert_eq!(collected(&client, items).await, whole());
    let client = Flaky::new(0);
    let expected = (vec![Err(Busy(1))], 1);
    assert_eq!(collected(&client, client.skipped().take(1)).await, expected);
}

#[tokio::test]
async fn streams_are_retried_as_a_whole() {
    for fails_at in 0..3 {
        let client = Flaky::new(fails_at);
        assert_eq!(collected(&client, client.buffered("hello")).await, whole());
        // Also in a block, by the method's own attribute.
        let client = Flaky::new(fails_at);
        let items = client.inner().in_a_block();
        assert_eq!(collected(&client, items).await, whole());
    }
    // Those that borrow the client exclusively, too.
    let (mut first, mut buffered) = (Flaky::new(0), Flaky::new(0));
    let items: Items = first.exclusive().collect().await;
    assert_eq!((items, first.inner().openings.get()), whole());
    let items: Items = buffered.exclusive_buffered().collect().await;
    assert_eq!((items, buffered.inner().openings.get()), whole());
}

#[retry(wrapper = RetryingBoxed, max = 3, backoff = "none", on = |_| true)]
#[async_trait]
trait Boxed: Send + Sync {
    #[retry(stream = "first")]
    async fn stream(
        &self,
        prompt: String,
    ) -> Result<Pin<Box<dyn Stream<Item = Result<u32, Busy>> + Send>>, Busy>;
}

#[async_trait]
impl Boxed for SharedFlaky {
    async fn stream(
        &self,
        prompt: String,
    ) -> Result<Pin<Box<dyn Stream<Item = Result<u32, Busy>> + Send>>, Busy> {
        assert_eq!(prompt, "hello");
        match self.answer() {
            Err(Busy(2)) => Ok(Box::pin(stream::iter([Err(Busy(2))]))),
            Err(busy) => Err(busy),
            Ok(_) => Ok(Box::pin(stream::iter([Ok(0), Ok(1), Ok(2)]))),
        }
    }
}

#[tokio::test]
async fn under_async_trait() {
    let client = RetryingBoxed::new(SharedFlaky::default());
    let stream = client.stream(String::from("hello")).await;
    let items: Items = stream.unwrap().collect().await;
    assert_eq!(items, whole().0);
}

/// In a block, a method that returns a stream is retried according to its own attribute.
#[retry(max = 3, backoff = "none", on = |_| true)]
impl Flaky {
    #[retry(stream = "buffer")]
    fn in_a_block(&self) -> impl Stream<Item = Result<u32, Busy>> {
        self.open()
    }
}
