//! Every mode in every shape: one attempt if it succeeds, otherwise as many as needed, and at most `max + 1`.

use futures::stream::{self, BoxStream, LocalBoxStream, Stream, StreamExt};
use support::prelude::*;

use super::{BUSY, Failure, Item, MAX, Server, all, all_of, items, rest};

/// The functions of one mode. `$start` gets the attempt's stream and the number of items to leave out.
macro_rules! shapes {
    ($mode:ident, $key:literal) => {
        mod $mode {
            use super::*;

            retried! { $key, attempt,
                fn bare(server: &Server) -> impl Stream<Item = Item> + Send {
                    rest(server.lazy(), yielded!($mode, attempt))
                }

                fn boxed<'a>(server: &'a Server) -> Pin<Box<dyn Stream<Item = Item> + Send + 'a>> {
                    let stream = server.lazy();
                    Box::pin(rest(stream, yielded!($mode, attempt)))
                }

                fn alias(server: &Server) -> BoxStream<'_, Item> {
                    rest(server.lazy(), yielded!($mode, attempt)).boxed()
                }

                fn local(server: &Server) -> LocalBoxStream<'_, Item> {
                    rest(server.lazy(), yielded!($mode, attempt)).boxed_local()
                }

                fn in_result(server: &Server) -> Result<impl Stream<Item = Item> + Send, Failure> {
                    let stream = server.open_now()?;
                    Ok(rest(stream, yielded!($mode, attempt)))
                }

                fn boxed_in_result(server: &Server) -> Result<BoxStream<'_, Item>, Failure> {
                    let stream = server.open_now()?;
                    return Ok(rest(stream, yielded!($mode, attempt)).boxed());
                }

                async fn awaited(server: &Server) -> impl Stream<Item = Item> + Send {
                    tokio::task::yield_now().await;
                    rest(server.lazy(), yielded!($mode, attempt))
                }

                async fn awaited_box(server: &Server) -> BoxStream<'_, Item> {
                    tokio::task::yield_now().await;
                    rest(server.lazy(), yielded!($mode, attempt)).boxed()
                }

                async fn awaited_result(
                    server: &Server,
                ) -> Result<impl Stream<Item = Item> + Send, Failure> {
                    let stream = server.connect().await?;
                    Ok(rest(stream, yielded!($mode, attempt)))
                }

                async fn awaited_boxed_result(
                    server: &Server,
                ) -> Result<Pin<Box<dyn Stream<Item = Item> + Send + '_>>, Failure> {
                    let stream = server.connect().await?;
                    Ok(Box::pin(rest(stream, yielded!($mode, attempt))))
                }

                async fn lazy_result(server: &Server) -> Result<BoxStream<'_, Item>, Failure> {
                    Ok(rest(server.lazy(), yielded!($mode, attempt)).boxed())
                }

                fn future(
                    server: &Server,
                ) -> impl Future<Output = Result<BoxStream<'_, Item>, Failure>> + Send {
                    async move {
                        let stream = server.connect().await?;
                        Ok(rest(stream, yielded!($mode, attempt)).boxed())
                    }
                }

                async fn unnamed_error(
                    server: &Server,
                ) -> Result<impl Stream<Item = Item>, impl Into<Failure>> {
                    let stream = match server.connect().await {
                        Ok(stream) => stream,
                        Err(error) => return Err(error),
                    };
                    Ok(rest(stream, yielded!($mode, attempt)))
                }

                fn future_of_unnamed_error(
                    server: &Server,
                ) -> impl Future<Output = Result<BoxStream<'_, Item>, impl Into<Failure>>> {
                    async move {
                        match server.connect().await {
                            Ok(stream) => Ok(rest(stream, yielded!($mode, attempt)).boxed()),
                            Err(error) => Err(error),
                        }
                    }
                }
            }

            trait Model {
                async fn method(&self) -> Result<impl Stream<Item = Item>, Failure>;
                fn plain(&self) -> impl Stream<Item = Item>;
            }

            impl Model for Server {
                #[retry(stream = $key, max = MAX, backoff = "none", attempt = attempt)]
                async fn method(&self) -> Result<impl Stream<Item = Item>, Failure> {
                    let stream = self.connect().await?;
                    Ok(rest(stream, yielded!($mode, attempt)))
                }

                #[retry(stream = $key, max = MAX, backoff = "none", attempt = attempt)]
                fn plain(&self) -> impl Stream<Item = Item> {
                    rest(self.lazy(), yielded!($mode, attempt))
                }
            }

            #[async_trait::async_trait]
            trait DynModel {
                async fn stream(&self, prompt: String) -> Result<BoxStream<'_, Item>, Failure>;
            }

            #[async_trait::async_trait]
            impl DynModel for Server {
                #[retry(stream = $key, max = MAX, backoff = "none", attempt = attempt)]
                async fn stream(&self, prompt: String) -> Result<BoxStream<'_, Item>, Failure> {
                    assert_eq!(prompt, "hello");
                    let stream = self.connect().await?;
                    Ok(rest(stream, yielded!($mode, attempt)).boxed())
                }
            }

            #[tokio::test]
            async fn attempts_are_counted() {
                counted!(|server| all(bare(server)).await);
                counted!(|server| all(boxed(server)).await);
                counted!(|server| all(alias(server)).await);
                counted!(|server| all(local(server)).await);
                counted!(|server| all_of(in_result(server)).await);
                counted!(|server| all_of(boxed_in_result(server)).await);
                counted!(|server| all(awaited(server).await).await);
                counted!(|server| all(awaited_box(server).await).await);
                counted!(|server| all_of(awaited_result(server).await).await);
                counted!(|server| all_of(awaited_boxed_result(server).await).await);
                counted!(|server| all_of(lazy_result(server).await).await);
                counted!(|server| all_of(future(server).await).await);
                counted!(|server| {
                    all_of(unnamed_error(server).await.map_err(Into::into)).await
                });
                counted!(|server| {
                    let opened = future_of_unnamed_error(server).await;
                    all_of(opened.map_err(Into::into)).await
                });
                counted!(|server| all_of(server.method().await).await);
                counted!(|server| all(server.plain()).await);
                counted!(|server| {
                    let model: &dyn DynModel = server;
                    all_of(model.stream(String::from("hello")).await).await
                });
            }
        }
    };
}

/// Functions with the keys of these tests.
macro_rules! retried {
    ($key:literal, $attempt:ident, $($function:item)*) => {
        $(
            #[retry(stream = $key, max = MAX, backoff = "none", attempt = $attempt)]
            $function
        )*
    };
}

macro_rules! yielded {
    (resume, $attempt:ident) => {
        $attempt.yielded()
    };
    ($mode:ident, $attempt:ident) => {
        usize::from($attempt.is_last() && $attempt.number() == 0)
    };
}

macro_rules! counted {
    (|$server:ident| $call:expr) => {
        // A failure of the opening, and one in place of the first item.
        for failures in [0, 2, MAX, MAX + 1] {
            let refusing = Server::refusing(failures, [items(1..=3)]);
            let mut scripts = vec![vec![BUSY]; failures as usize];
            scripts.push(items(1..=3));
            for server in [refusing, Server::new(scripts)] {
                let $server = &server;
                let seen = $call;
                assert_eq!(server.attempts(), failures.min(MAX) + 1);
                if failures > MAX {
                    assert_eq!(seen, [Err(TRANSIENT)]);
                } else {
                    assert_eq!(seen, [Ok(1), Ok(2), Ok(3)]);
                }
                assert_eq!(server.open(), 0);
            }
        }
    };
}
shapes!(first, "first");
shapes!(buffer, "buffer");
shapes!(resume, "resume");

/// The number of the attempt, which fails up to the last one.
async fn number(number: u32, last: &u32) -> Item {
    if number < *last {
        Err(TRANSIENT)
    } else {
        Ok(number)
    }
}

#[retry(stream = "resume", max = 2, backoff = "none", attempt = attempt)]
fn resumed(last: &u32) -> BoxStream<'_, Item> {
    stream::once(async move { number(attempt.number(), last).await }).boxed()
}

#[retry(stream = "buffer", max = 2, backoff = "none", attempt = attempt)]
async fn buffered(last: &u32) -> Result<BoxStream<'_, Item>, Failure> {
    let item = async move { number(attempt.number(), last).await };
    Ok(Box::pin(stream::once(item)))
}

#[tokio::test]
async fn a_boxed_stream_uses_the_attempt() {
    assert_eq!(all(resumed(&3)).await, [Ok(3)]);
    assert_eq!(all(buffered(&3).await.unwrap()).await, [Ok(3)]);
}

struct Client(Server);

impl Client {
    fn changing(&mut self) -> impl Stream<Item = Item> + Send {
        self.0.lazy()
    }

    #[retry(stream = "first", max = MAX, backoff = "none")]
    fn lent(&mut self) -> impl Stream<Item = Item> + Send {
        self.changing()
    }
}

#[tokio::test]
async fn a_stream_may_borrow_what_the_body_changes() {
    let mut client = Client(Server::new([vec![BUSY], items(1..=2)]));
    assert_eq!(all(client.lent()).await, [Ok(1), Ok(2)]);
    assert_eq!(client.0.attempts(), 2);
}

streams! {
    #[retry(max = MAX, backoff = "none")]
    async fn open;
}

#[retry(max = MAX, backoff = "none")]
fn open_now(server: &Server) -> Result<BoxStream<'_, Item>, Failure> {
    Ok(server.open_now()?.boxed())
}

#[tokio::test]
async fn without_the_key_only_the_opening_is_retried() {
    let server = Server::refusing(2, [items(1..=2)]);
    assert_eq!(all_of(open(&server).await).await, [Ok(1), Ok(2)]);
    assert_eq!(server.attempts(), 3);
    let server = Server::refusing(MAX + 1, [items(1..=2)]);
    assert_eq!(open_now(&server).err(), Some(TRANSIENT));
    assert_eq!(server.attempts(), MAX + 1);
    let server = Server::new([vec![BUSY]]);
    assert_eq!(all_of(open(&server).await).await, [Err(TRANSIENT)]);
    assert_eq!(all_of(open_now(&server)).await, [Err(TRANSIENT)]);
    assert_eq!(server.attempts(), 2);
}
