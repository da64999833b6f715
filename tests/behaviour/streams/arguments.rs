//! Receivers, generics and lifetimes: the values that a stream's attempts may borrow or change.

use std::fmt::Display;

use futures::stream::{self, BoxStream, LocalBoxStream, Stream, StreamExt};
use support::prelude::*;

use super::{BUSY, Failure, Item, Server, all, all_of, items};

struct Client {
    server: Server,
    attempts: u32,
}

impl Client {
    fn new() -> Self {
        Self {
            server: Server::new([vec![BUSY], vec![BUSY], items(1..=2)]),
            attempts: 0,
        }
    }

    #[retry(stream, backoff = "none")]
    fn changed(&mut self) -> impl Stream<Item = Item> + Send {
        self.attempts += 1;
        let attempts = self.attempts;
        self.server.lazy().map(move |item| Ok(item? * attempts))
    }

    #[retry(stream, backoff = "none")]
    async fn changed_awaited(&mut self) -> Result<impl Stream<Item = Item> + Send, Failure> {
        self.attempts += 1;
        let attempts = self.attempts;
        let stream = self.server.connect().await?;
        Ok(stream.map(move |item| Ok(item? * attempts)))
    }

    #[retry(stream = "resume", attempt = _attempt, backoff = "none")]
    fn shared(self: Arc<Self>) -> impl Stream<Item = Item> + Send {
        self.server.lazy()
    }

    #[retry(stream = "buffer", backoff = "none")]
    fn consumed(self) -> impl Stream<Item = Item> + Send {
        self.server.lazy()
    }

    #[retry(stream, backoff = "none", max = prompts.len() as u32)]
    fn named<'a, 'b: 'a>(
        &'a self,
        prompts: &'b [&str],
    ) -> impl Stream<Item = Item> + Send + use<'a, 'b> {
        self.server.lazy().take(prompts.len())
    }
}

#[tokio::test]
async fn receivers() {
    let doubled = [Ok(3), Ok(6)];
    assert_eq!(all(Client::new().changed()).await, doubled);
    assert_eq!(all_of(Client::new().changed_awaited().await).await, doubled);
    assert_eq!(all(Arc::new(Client::new()).shared()).await, [Ok(1), Ok(2)]);
    assert_eq!(all(Client::new().consumed()).await, [Ok(1), Ok(2)]);
    let client = Client::new();
    assert_eq!(all(client.named(&["a", "b"])).await, [Ok(1), Ok(2)]);
}

#[tokio::test]
async fn generics_and_hidden_types() {
    #[retry(stream, backoff = "none")]
    fn shown<T: Display + Clone + Send>(
        (server, one): (&Server, T),
        other: impl Display + Sync + Send,
    ) -> impl Stream<Item = Result<impl Display, Failure>> + Send {
        let text = format!("{one}{other}");
        server
            .lazy()
            .map(move |item| Ok(format!("{text}{}", item?)))
    }
    let server = Server::new([vec![BUSY], items(1..=2)]);
    let seen: Vec<_> = shown((&server, "a"), 'b')
        .map(|item| item.map(|item| item.to_string()))
        .collect()
        .await;
    assert_eq!(seen, [Ok(String::from("ab1")), Ok(String::from("ab2"))]);
}

#[tokio::test]
async fn errors_of_any_type() {
    type BoxError = Box<dyn Error + Send + Sync>;

    #[retry(stream, max = 2, backoff = "none", on = |_| true)]
    async fn anyhow(server: &Server) -> anyhow::Result<BoxStream<'_, anyhow::Result<u32>>> {
        let stream = server.connect().await?;
        Ok(stream.map(|item| Ok(item?)).boxed())
    }

    #[retry(stream = "buffer", max = 2, backoff = "none", on = |_| true)]
    fn boxed(server: &Server) -> impl Stream<Item = Result<u32, BoxError>> + Send {
        server.lazy().map(|item| Ok(item?))
    }

    let server = Server::refusing(1, [vec![BUSY], items(1..=1)]);
    let seen: Vec<_> = anyhow(&server).await.unwrap().collect().await;
    assert!(matches!(*seen, [Ok(1)]));
    let server = Server::new([vec![BUSY]]);
    let seen: Vec<_> = boxed(&server).collect().await;
    assert!(matches!(&*seen, [Err(error)] if error.is::<Failure>()));
    assert_eq!(server.attempts(), 3);
}

#[tokio::test]
async fn a_body_may_leave_early() {
    #[retry(stream, max = 2, backoff = "none", on = |_| true)]
    fn early(empty: bool) -> BoxStream<'static, Result<u32, String>> {
        if empty {
            return Box::pin(stream::empty());
        }
        Box::pin(stream::iter([Ok(1)]))
    }
    assert_eq!(early(true).count().await, 0);
    assert_eq!(early(false).count().await, 1);
}

/// The returned stream is `Send` if the inner stream is, as `Open` requires. The inner stream need not be.
#[tokio::test]
async fn items_and_errors_need_not_be() {
    #[retry(stream, max = 1, backoff = "none", on = |_| true)]
    fn local(prompt: Rc<str>) -> LocalBoxStream<'static, Result<Rc<str>, Rc<str>>> {
        let one = Rc::clone(&prompt);
        stream::iter([Ok(one)]).boxed_local()
    }
    let seen: Vec<_> = local("hello".into()).collect().await;
    assert_eq!(seen, [Ok("hello".into())]);
}
