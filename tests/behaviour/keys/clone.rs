//! `clone`: arguments that the body consumes.

use async_trait::async_trait;
use futures::future::LocalBoxFuture;
use futures::stream::{self, Stream, TryStreamExt};
use support::prelude::*;

/// Counts its clones and the attempts that consumed one.
struct Request {
    failure: Failure,
    failures: u32,
    clones: Rc<Cell<u32>>,
    attempts: Rc<Cell<u32>>,
}

impl Clone for Request {
    fn clone(&self) -> Self {
        self.clones.set(self.clones.get() + 1);
        Self {
            failure: self.failure.clone(),
            failures: self.failures,
            clones: Rc::clone(&self.clones),
            attempts: Rc::clone(&self.attempts),
        }
    }
}

impl Request {
    fn new(failures: u32, failure: Failure) -> Self {
        Self {
            failure,
            failures,
            clones: Rc::default(),
            attempts: Rc::default(),
        }
    }

    fn consume(self) -> Result<u32, Failure> {
        let attempt = self.attempts.get() + 1;
        self.attempts.set(attempt);
        if attempt <= self.failures {
            Err(self.failure)
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
        self.failures += 0;
        self.consume()
    }
}

#[retry(max = 2, backoff = "none", clone(request, name))]
async fn plain(request: Request, name: String) -> Result<u32, Failure> {
    drop(name);
    request.consume()
}

#[retry(max = 2, backoff = "none", clone = request)]
fn blocking(mut request: Request) -> Result<u32, Failure> {
    request.failures += 0;
    request.consume()
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

#[retry(max = 2, backoff = "none", timeout = "1s", clone(request))]
async fn destructured((request, _): (Request, u32)) -> Result<u32, Failure> {
    request.consume()
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

const SHAPES: [(&str, Shape); 9] = [
    ("async", |request| Box::pin(plain(request, String::new()))),
    ("blocking", |request| Box::pin(ready(blocking(request)))),
    ("future", |request| Box::pin(future(request))),
    ("boxed", boxed),
    ("destructured", |request| {
        Box::pin(destructured((request, 0)))
    }),
    ("expression", |request| Box::pin(expression(request))),
    ("receiver", |request| Box::pin(request.method())),
    ("mutable receiver", |request| {
        Box::pin(ready(request.changed()))
    }),
    ("async_trait", |request| String::new().send(request)),
];

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
            let counted = Rc::clone(&request.clones);
            assert_eq!(call(request).await, outcome, "{shape}, {failures} failures");
            assert_eq!(counted.get(), clones, "{shape}, {failures} failures");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_at_once_each_have_a_clone() {
    #[retry(max = 2, hedge = "1s", clone(request))]
    async fn slow(request: Request) -> Result<u32, Failure> {
        sleep(millis(2500)).await;
        request.consume()
    }
    let request = Request::new(0, TRANSIENT);
    let clones = Rc::clone(&request.clones);
    assert_eq!(slow(request).await, Ok(1));
    assert_eq!(clones.get(), 3);
}

#[tokio::test(start_paused = true)]
async fn attempts_of_a_resumed_stream_each_have_a_clone() {
    #[retry(stream = "resume", max = 1, backoff = "none", attempt = attempt, clone(request))]
    fn numbers(request: Request) -> impl Stream<Item = Result<u32, Failure>> {
        let next = u32::try_from(attempt.yielded()).unwrap() + 1;
        let ended = request.consume();
        stream::iter([Ok(next), ended])
    }
    let request = Request::new(3, TRANSIENT);
    let clones = Rc::clone(&request.clones);
    let items: Vec<_> = numbers(request).try_collect().await.unwrap();
    assert_eq!((items, clones.get()), (vec![1, 2, 3, 4, 4], 4));
}
