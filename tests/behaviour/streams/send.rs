//! The returned stream is `Send` if the inner stream is. The inner stream need not be `Send`.

use futures::stream::{self, LocalBoxStream, StreamExt};
use support::prelude::*;

use super::{Failure, Item, Server, all, items};

/// Compiles only for streams and futures that are `Send`.
#[tokio::test]
async fn streams_and_calls_are_send() {
    for (mode, open) in modes!(|server| timeout = "1s") {
        let server = Server::new([items(1..=1)]);
        assert_eq!(all(open(&server)).await, [Ok(1)], "{mode}");
    }
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
