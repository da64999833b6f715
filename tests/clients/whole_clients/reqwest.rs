//! reqwest 0.13: in a chain of reqwest-middleware, and as a service.

use futures_util::stream;
use http::Extensions;
use http_body::Body as _;
use reqwest_0_13::{Body, Client, Request, Response, Url, retry};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error, Middleware, Next, Result};
use retry_clients::ClientRetries;
use retry_clients::http::{RetryCount, classify};
use retry_clients::reqwest_middleware::RetryMiddleware;
use retry_clients::tower::RetryLayer;
use support::loopback::{self, read_head};
use support::prelude::*;
use support::scripted::{Server, answer, broken_events, closed, closed_port, cut};
use tokio::io::AsyncWriteExt;
use tower::{Layer, ServiceExt};

use super::real;

fn one_each() -> Client {
    Client::builder().retry(retry::never()).build().unwrap()
}

fn chain(retries: impl Into<ClientRetries>) -> ClientWithMiddleware {
    let client = ClientBuilder::new(one_each());
    client.with(RetryMiddleware::new(retries)).build()
}

/// Sends a request through a chain of middlewares, or through a service, and returns the status of the response.
async fn send(is_chain: bool, url: &str) -> u16 {
    let request = one_each().post(url).header("idempotency-key", "7");
    let request = request.body("hello").build().unwrap();
    let answered = if is_chain {
        chain(Policy::new()).execute(request).await.unwrap()
    } else {
        RetryLayer::new(Policy::new()).layer(one_each()).oneshot(request).await.unwrap()
    };
    answered.status().as_u16()
}

#[tokio::test]
async fn statuses_and_connections() {
    for is_chain in [false, true] {
        real::check("no", "yes", async |server| send(is_chain, &server.url).await == 200).await;
        let _skipped = testing::skip_sleeps();
        // The key is in use.
        let server = Server::start([closed(), answer(409, "no"), answer(200, "yes")]);
        assert_eq!((send(is_chain, &server.url).await, server.requests()), (200, 3));
        let server = Server::start([answer(500, "no")]);
        assert_eq!((send(is_chain, &server.url).await, server.requests()), (500, 4));
    }
    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let error = chain(Policy::new()).get(closed_port()).send().await.unwrap_err();
    assert!(error.is_connect());
    assert_eq!(recording.delays().len(), 3);
}

/// On a clock that runs, as the server does.
#[tokio::test]
async fn retries_use_the_connection_of_the_attempt_before() {
    let policy = Policy::fixed(Duration::from_millis(50)).jitter(Jitter::None);
    for is_chain in [false, true] {
        let server = loopback::Server::start(async |mut stream| {
            for _ in 0..4 {
                read_head(&mut stream).await?;
                let head = "HTTP/1.1 503 -\r\ntransfer-encoding: chunked\r\n\r\n";
                stream.write_all(head.as_bytes()).await?;
                yield_now().await;
                stream.write_all(b"4\r\nbusy\r\n0\r\n\r\n").await?;
            }
            Ok(())
        });
        let request = one_each().get(server.url()).build().unwrap();
        let answer = if is_chain {
            chain(policy).execute(request).await.unwrap()
        } else {
            let layer = RetryLayer::new(policy.deadline(Duration::from_mins(1)));
            layer.layer(one_each()).oneshot(request).await.unwrap()
        };
        assert_eq!(answer.url().as_str(), server.url());
        assert_eq!(answer.extensions().get(), Some(&RetryCount(3)));
        assert_eq!(answer.text().await.unwrap(), "busy");
        assert_eq!(server.accepted(), 1, "{is_chain}");
    }
}

#[tokio::test]
async fn a_stream_is_sent_again() {
    let _skipped = testing::skip_sleeps();
    for (most, requests) in [(10, 2), (9, 1)] {
        let server = Server::start([answer(503, "no"), answer(200, "yes")]);
        let parts = ["hello", "world"].map(Ok::<_, io::Error>);
        let retries = ClientRetries::new(Policy::new()).record_bodies(most);
        let sent = chain(retries).post(&server.url).header("content-length", "10");
        sent.body(Body::wrap_stream(stream::iter(parts))).send().await.unwrap();
        assert_eq!(server.requests(), requests, "{most}");
    }
}

struct Busy;

#[async_trait::async_trait]
impl Middleware for Busy {
    async fn handle(&self, request: Request, _: &mut Extensions, _: Next<'_>) -> Result<Response> {
        assert!(!request.body().unwrap().is_end_stream());
        let answer = http::Response::builder().status(503).body("");
        Ok(answer.unwrap().into())
    }
}

/// However often it is sent, it is recorded once.
#[tokio::test(start_paused = true)]
async fn a_stream_supports_any_number_of_retries_and_hooks() {
    let retries = RetryMiddleware::new(Policy::none().max(20_000))
        .before_retry(|_, _, _| Box::pin(async { Ok(()) }));
    let client = ClientBuilder::new(one_each()).with(retries).with(Busy);
    let body = Body::wrap_stream(stream::iter([Ok::<_, io::Error>("hello")]));
    let request = client.build().post("http://api.example/").body(body);
    let answered = request.send().await.unwrap();
    let count = answered.extensions().get::<RetryCount>();
    assert_eq!(count, Some(&RetryCount(20_000)));
}

/// The other server is asked from the first retry on.
#[tokio::test]
async fn hooks_and_a_fallback() {
    let _skipped = testing::skip_sleeps();
    let down = Server::start([answer(503, "no")]);
    let up = Server::start([answer(503, "no"), answer(200, "yes")]);
    let other: Url = up.url.parse().unwrap();
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&recorded);
    let retries = RetryMiddleware::new(Policy::new())
        .before_pause(move |_, _, next| {
            record.lock().unwrap().push(next.number());
            Box::pin(async { Ok(()) })
        })
        .before_retry(move |request, outcome, next| {
            if outcome.is_ok() && next.number() == 2 {
                *request.url_mut() = other.clone();
            }
            Box::pin(async { Ok(()) })
        })
        .fallback(|_, gave_up| {
            let attempts = format!("{} attempts", gave_up.attempts);
            Box::pin(async { Err(Error::middleware(io::Error::other(attempts))) })
        });
    let client = ClientBuilder::new(one_each()).with(retries).build();
    let answered = client.get(&down.url).send().await.unwrap();
    assert_eq!((down.requests(), up.requests()), (1, 2));
    let count = answered.extensions().get::<RetryCount>();
    assert_eq!(count, Some(&RetryCount(2)));
    assert_eq!(*recorded.lock().unwrap(), [2, 3]);

    let failed = client.get(closed_port()).send().await.unwrap_err();
    assert_eq!(failed.to_string(), "4 attempts");
}

/// The response is still a reqwest response, with its URL.
#[tokio::test]
async fn errors_in_bodies_are_classified() {
    let _skipped = testing::skip_sleeps();
    let retries = ClientRetries::new(Policy::new()).read_bodies(4096).on(|outcome| match outcome {
        Ok(answer) if answer.is_empty() => Some(Verdict::TRANSIENT),
        outcome => classify(outcome),
    });
    let server = Server::start([answer(200, ""), cut(), answer(200, "yes")]);
    let url = format!("{}/path", server.url);
    let answered = chain(retries.clone()).get(&url).send().await.unwrap();
    assert_eq!((answered.url().as_str(), server.requests()), (&*url, 3));
    assert!(answered.remote_addr().is_some());
    assert_eq!(answered.text().await.unwrap(), "yes");

    // Each event at once, and no retry once it was handed on.
    let server = Server::start([broken_events(&["data: 1"])]);
    let mut events = chain(retries).get(&server.url).send().await.unwrap();
    assert_eq!(events.chunk().await.unwrap().unwrap(), "data: 1\n\n");
    events.chunk().await.unwrap_err();
    assert_eq!(server.requests(), 1);
}

struct Counting;

#[async_trait::async_trait]
impl Middleware for Counting {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let count = extensions.get::<u32>().copied().unwrap_or_default();
        extensions.insert(count + 1);
        match next.run(request, extensions).await {
            Err(error) => Err(Error::Middleware(anyhow::Error::new(error).context("counted"))),
            answered => answered,
        }
    }
}

/// Inner middlewares run for each attempt, and their errors don't hide the cause.
#[tokio::test]
async fn inner_middlewares_run_for_each_attempt() {
    let _skipped = testing::skip_sleeps();
    let client = ClientBuilder::new(one_each()).with(RetryMiddleware::new(Policy::new()));
    let client = client.with(Counting).build();
    let mut extensions = Extensions::new();
    let request = one_each().get(closed_port()).build().unwrap();
    client.execute_with_extensions(request, &mut extensions).await.unwrap_err();
    assert_eq!(extensions.get::<u32>(), Some(&4));
}

#[tokio::test]
async fn an_open_breaker_rejects() {
    static BREAKER: Breaker = Breaker::new().consecutive_failures(1);
    let server = Server::start([answer(503, "no")]);
    let client = chain(ClientRetries::new(Policy::new().max(0)).breaker(&BREAKER));
    client.get(&server.url).send().await.unwrap();
    let Err(Error::Middleware(error)) = client.get(&server.url).send().await else {
        panic!("rejected");
    };
    assert!(error.is::<Rejected>());
    assert_eq!(server.requests(), 1);
}
