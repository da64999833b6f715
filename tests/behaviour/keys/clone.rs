//! `clone`: arguments that the body consumes.

use async_trait::async_trait;
use futures::future::LocalBoxFuture;
use futures::stream::{self, Stream, TryStreamExt};
use support::prelude::*;

/// Counts its clones and the attempts that consumed one.
struct Request(Rc<Server>);

struct Server {
    failure: Failure,
    failures: u32,
    clones: Cell<u32>,
    attempts: Cell<u32>,
}

impl Clone for Request {
    fn clone(&self) -> Self {
        self.0.clones.set(self.0.clones.get() + 1);
        Self(Rc::clone(&self.0))
    }
}

impl Request {
    fn new(failures: u32, failure: Failure) -> Self {
        let (clones, attempts) = (Cell::new(0), Cell::new(0));
        Self(Rc::new(Server {
            failure,
            failures,
            clones,
            attempts,
        }))
    }

    fn consume(self) -> Result<u32, Failure> {
        let attempt = self.0.attempts.get() + 1;
        self.0.attempts.set(attempt);
        if attempt <= self.0.failures {
            Err(self.0.failure.clone())
        } else {
            Ok(attempt)
        }
    }

    #[retry(max = 2, backoff = "none", clone(self))]
    async fn method(self) -> Result<u32, Failure> {
        /// Has a `self` of its own.
        struct Inner;
        impl Inner {
            fn get(self) -> Self {
                self
            }
        }
        Inner.get();
        self.consume()
    }

    #[retry(max = 2, backoff = "none", clone(self))]
    fn changed(mut self) -> Result<u32, Failure> {
        self.0 = Rc::clone(&self.0);
        self.consume()
    }
}

scripted! {
    #[retry(max = 2, backoff = "none", clone(request, name))]
    async fn plain(request: Request, name: String) -> Result<u32, Failure> = { drop(name); request.consume() };
    #[retry(max = 2, backoff = "none", clone = request)]
    fn blocking(mut request: Request) -> Result<u32, Failure> = { request.0 = Rc::clone(&request.0); request.consume() };
    #[retry(max = 2, backoff = "none", timeout = "1s", clone(request))]
    async fn destructured((request, _): (Request, u32)) -> Result<u32, Failure> = request.consume();
}

#[retry(max = 2, backoff = "none", clone(request))]
fn future(request: Request) -> impl Future<Output = Result<u32, Failure>> {
    async move { request.consume() }
}

#[retry(max = 2, backoff = "none", clone(request))]
fn boxed(request: Request) -> LocalBoxFuture<'static, Result<u32, Failure>> {
    let consumed = request.consume();
    Box::pin(ready(consumed))
}

async fn expression(request: Request) -> Result<u32, Failure> {
    retrying!(max = 2, backoff = "none", clone(request), async {
        request.consume()
    })
    .await
}

#[async_trait(?Send)]
trait Send {
    async fn send(self, request: Request) -> Result<u32, Failure>;
}

#[async_trait(?Send)]
impl Send for String {
    #[retry(max = 2, backoff = "none", clone(self, request))]
    async fn send(self, request: Request) -> Result<u32, Failure> {
        drop(self);
        request.consume()
    }
}

type Shape = fn(Request) -> LocalBoxFuture<'static, Result<u32, Failure>>;

const SHAPES: [(&str, Shape); 9] = rows! {
    "async", |request| Box::pin(plain(request, String::new()));
    "blocking", |request| Box::pin(ready(blocking(request)));
    "future", |request| Box::pin(future(request));
    "boxed", boxed;
    "destructured", |request| Box::pin(destructured((request, 0)));
    "expression", |request| Box::pin(expression(request));
    "receiver", |request| Box::pin(request.method());
    "mutable receiver", |request| Box::pin(ready(request.changed()));
    "async_trait", |request| String::new().send(request);
};

#[tokio::test(start_paused = true)]
async fn each_attempt_but_the_last_has_a_clone() {
    for (shape, call) in SHAPES {
        for (failures, failure, outcome, clones) in [
            (0, TRANSIENT, Ok(1), 1),
            (1, TRANSIENT, Ok(2), 2),
            (2, TRANSIENT, Ok(3), 2),
            (9, TRANSIENT, Err(TRANSIENT), 2),
            (9, STOP, Err(STOP), 1),
        ] {
            let request = Request::new(failures, failure);
            let server = Rc::clone(&request.0);
            assert_eq!(call(request).await, outcome, "{shape}, {failures} failures");
            assert_eq!(server.clones.get(), clones, "{shape}, {failures} failures");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_at_once_and_those_of_a_resumed_stream_each_have_a_clone() {
    scripted! {
        #[retry(max = 2, hedge = "1s", clone(request))]
        async fn slow(request: Request) -> Result<u32, Failure> = {
            sleep(millis(2500)).await;
            request.consume()
        };
    }

    #[retry(stream = "resume", max = 1, backoff = "none", attempt = attempt, clone(request))]
    fn numbers(request: Request) -> impl Stream<Item = Result<u32, Failure>> {
        let next = u32::try_from(attempt.yielded()).unwrap() + 1;
        let ended = request.consume();
        stream::iter([Ok(next), ended])
    }

    let request = Request::new(0, TRANSIENT);
    let server = Rc::clone(&request.0);
    assert_eq!(slow(request).await, Ok(1));
    assert_eq!(server.clones.get(), 3);
    let request = Request::new(3, TRANSIENT);
    let server = Rc::clone(&request.0);
    let items: Vec<_> = numbers(request).try_collect().await.unwrap();
    assert_eq!((items, server.clones.get()), (vec![1, 2, 3, 4, 4], 4));
}
