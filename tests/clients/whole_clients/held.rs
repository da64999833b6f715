//! A failed response that occupies the service, and the rest of its body.

use std::task::ready;

use bytes::Bytes;
use futures_util::future::{self, BoxFuture, FutureExt};
use futures_util::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use retry_clients::ClientRetries;
use retry_clients::tower::RetryLayer;
use support::prelude::*;
use tokio::sync::{OwnedSemaphorePermit as Place, Semaphore};
use tokio::time::sleep_until;
use tower::{Layer, Service, ServiceExt};

use super::scripted::{BoxError, post};

const SECOND: Duration = Duration::from_secs(1);
const POLICY: Policy = Policy::fixed(SECOND).jitter(Jitter::None);

/// A service with one slot, like a pool of one connection. A response occupies it until its body ends or is dropped.
/// The first response is a 503 and, if it hangs, never ends.
struct OnePlace {
    places: Arc<Semaphore>,
    starts: Arc<Mutex<Vec<Instant>>>,
    hangs: bool,
    place: Option<Place>,
    wait: Option<BoxFuture<'static, Place>>,
}

impl OnePlace {
    fn new(hangs: bool) -> Self {
        Self {
            places: Arc::new(Semaphore::new(1)),
            starts: Arc::default(),
            hangs,
            place: None,
            wait: None,
        }
    }
}

impl Clone for OnePlace {
    fn clone(&self) -> Self {
        Self {
            places: Arc::clone(&self.places),
            starts: Arc::clone(&self.starts),
            ..Self::new(self.hangs)
        }
    }
}

impl Service<Request<Full<Bytes>>> for OnePlace {
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future = future::Ready<Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.place.is_none() {
            let places = Arc::clone(&self.places);
            let place = async { places.acquire_owned().await.unwrap() };
            let wait = self.wait.get_or_insert_with(|| place.boxed());
            self.place = Some(ready!(wait.poll_unpin(context)));
            self.wait = None;
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Full<Bytes>>) -> Self::Future {
        let mut starts = self.starts.lock().unwrap();
        let status = if starts.is_empty() { 503 } else { 200 };
        starts.push(Instant::now());
        let text = stream::iter([Ok(Frame::data(Bytes::from("busy")))]);
        let rest = stream::pending().take(usize::from(self.hangs && status == 503));
        let place = self.place.take().unwrap();
        let frames = text.chain(rest).inspect(move |_| {
            let _ = &place;
        });
        let body = StreamBody::new(frames).boxed_unsync();
        future::ready(Ok(Response::builder().status(status).body(body).unwrap()))
    }
}

/// Some calls can still end with the response after their pause, and so keep it.
#[tokio::test(start_paused = true)]
async fn a_retry_can_use_the_slot_of_the_failed_response() {
    let retries = [
        ClientRetries::new(POLICY),
        ClientRetries::new(POLICY.deadline(9 * SECOND)),
        ClientRetries::new(POLICY).breaker(Arc::new(Breaker::new())),
        ClientRetries::new(POLICY).cancel(future::pending::<()>),
    ];
    for hangs in [false, true] {
        for retries in &retries {
            let service = OnePlace::new(hangs);
            let start = Instant::now();
            let client = RetryLayer::new(retries.clone()).layer(service.clone());
            let called = timeout(60 * SECOND, client.oneshot(post(""))).await;
            let answer = called.expect("no deadlock").unwrap();
            assert_eq!(answer.status(), 200, "{retries:?}");
            let starts = service.starts.lock().unwrap();
            assert_eq!(*starts, [start, start + SECOND], "{hangs} {retries:?}");
        }
    }
}

/// While somebody else has the place.
#[tokio::test(start_paused = true)]
async fn a_call_that_ends_with_the_response_has_the_received_part() {
    const GONE: &str = "the rest of this response was discarded before a retry";
    // Whether the body hangs, the time of the cancellation, and the body's text and end.
    let cases = [
        (false, 5000, Some(Ok("busy"))),
        (true, 5000, Some(Err(GONE))),
        // During the pause: the body is unchanged.
        (true, 500, None),
    ];
    for (hangs, cancelled, expected) in cases {
        let end = Instant::now() + Duration::from_millis(cancelled);
        let service = OnePlace::new(hangs);
        let retries = ClientRetries::new(POLICY).cancel(move || sleep_until(end));
        let client = RetryLayer::new(retries).layer(service.clone());
        let mut other = service.clone();
        tokio::spawn(async move {
            sleep(SECOND / 2).await;
            other.ready().await.unwrap();
            sleep(60 * SECOND).await;
        });
        let answer = client.oneshot(post("")).await;
        let answer = answer.unwrap();
        assert_eq!(answer.status(), 503);
        let read = answer.into_body().collect().now_or_never();
        let read = read.map(|read| read.map(http_body_util::Collected::to_bytes));
        let read = read.map(|read| read.map_err(|error| error.to_string()));
        let expected = expected.map(|read| read.map(Bytes::from).map_err(str::to_owned));
        assert_eq!(read, expected, "{cancelled}");
    }
}
