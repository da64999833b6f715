//! The returned stream is `Send` if the inner one is, and doesn't require it.

use std::rc::Rc;

use futures::stream::{self, BoxStream, LocalBoxStream, Stream, StreamExt};
use retry_runtime::retry;
use support::is_send;

use super::{Failure, Item, Server, all};

#[retry(stream, timeout = "1s")]
fn first(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "buffer", timeout = "1s")]
fn buffer(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "resume", attempt = attempt, timeout = "1s")]
fn resume(server: &Server) -> impl Stream<Item = Item> {
    super::rest(server.lazy(), attempt.yielded())
}

#[retry(stream, timeout = "1s")]
async fn first_awaited(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
    server.connect().await
}

#[retry(stream = "buffer", timeout = "1s")]
async fn buffer_awaited(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
    server.connect().await
}

#[retry(stream = "resume", attempt = attempt, timeout = "1s")]
async fn resume_awaited(server: &Server) -> Result<BoxStream<'_, Item>, Failure> {
    Ok(super::rest(server.connect().await?, attempt.yielded()).boxed())
}

#[tokio::test]
async fn streams_and_calls_are_send() {
    let server = Server::new([super::items(1..=1)]);
    assert_eq!(all(is_send(first(&server))).await, [Ok(1)]);
    assert_eq!(all(is_send(buffer(&server))).await, [Ok(1)]);
    assert_eq!(all(is_send(resume(&server))).await, [Ok(1)]);
    let stream = is_send(is_send(first_awaited(&server)).await.unwrap());
    assert_eq!(all(stream).await, [Ok(1)]);
    let stream = is_send(is_send(buffer_awaited(&server)).await.unwrap());
    assert_eq!(all(stream).await, [Ok(1)]);
    let stream = is_send(is_send(resume_awaited(&server)).await.unwrap());
    assert_eq!(all(stream).await, [Ok(1)]);
}

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
