//! Bodies that are recorded while they are sent.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::task::Wake;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use retry_clients::ClientRetries;
use retry_clients::repeat::{Recorded, Recording, Unrepeatable};
use retry_clients::tower::RetryLayer;
use support::prelude::*;
use tower::{Layer, ServiceExt, service_fn};

use super::scripted::{Answer, BoxError, Scripted};

const POLICY: Policy = Policy::fixed(Duration::from_secs(1)).jitter(Jitter::None);

/// Sends these parts, one at every second poll, with a known length if requested.
#[derive(Debug)]
struct Parts {
    left: VecDeque<Result<Frame<Bytes>, io::ErrorKind>>,
    is_ready: bool,
    length: Option<u64>,
}

impl Parts {
    fn new(texts: &[&'static str]) -> Self {
        let length = texts.iter().map(|text| text.len() as u64).sum();
        let frames = texts.iter().map(|text| Ok(Frame::data(Bytes::from(*text))));
        Self { left: frames.collect(), is_ready: false, length: Some(length) }
    }

    fn with_trailers(mut self) -> Self {
        let mut trailers = HeaderMap::new();
        trailers.insert("checksum", "7".parse().unwrap());
        self.left.push_back(Ok(Frame::trailers(trailers)));
        self
    }

    fn breaking(mut self) -> Self {
        self.left.push_back(Err(io::ErrorKind::UnexpectedEof));
        self.length = None;
        self
    }

    fn boxed(self) -> UnsyncBoxBody<Bytes, BoxError> {
        self.map_err(Into::into).boxed_unsync()
    }
}

impl Body for Parts {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.is_ready = !self.is_ready;
        if self.is_ready {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let frame = self.left.pop_front();
        if let (Some(Ok(frame)), Some(length)) = (&frame, self.length) {
            let sent = frame.data_ref().map_or(0, |data| data.len() as u64);
            self.length = Some(length - sent);
        }
        Poll::Ready(frame.map(|frame| frame.map_err(io::Error::from)))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

fn post(body: Parts) -> Request<UnsyncBoxBody<Bytes, BoxError>> {
    Request::post("http://api.example/").body(body.boxed()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_sent_again_unless_it_is_too_long_and_the_log_shows_that() {
    for (most, attempts) in [(11, 1), (12, 4)] {
        let service = Scripted::new(vec![Answer::Status(503, &[]); 3]);
        let retries = ClientRetries::new(POLICY).record_bodies(most);
        let recording = testing::record();
        let request = post(Parts::new(&["hello, ", "world"]).with_trailers());
        let answer = service.under(retries).oneshot(request).await.unwrap();
        let bodies: Vec<_> = service.received().into_iter().map(|request| request.body).collect();
        assert_eq!(bodies, vec!["hello, world"; attempts]);
        assert_eq!(answer.status(), if attempts == 1 { 503 } else { 200 });
        if attempts == 1 {
            let line = "gave up POST api.example attempt=1 max=3 error=503 Service Unavailable; the request can't be sent \
                again: its body is longer than the 11 bytes that are recorded reason=unrepeatable";
            assert_eq!(recording.lines(), [line]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_is_not_sent_again() {
    let service = Scripted::new([]);
    let recording = testing::record();
    let sent = service.under(POLICY).oneshot(post(Parts::new(&["hello"]).breaking()));
    let error = sent.await.unwrap_err();
    assert!(error.downcast_ref::<io::Error>().is_some(), "{error:?}");
    assert!(service.received().is_empty());
    assert!(
        recording.lines()[0].ends_with("its body failed partway through reason=unrepeatable"),
        "{recording:?}"
    );
}

/// The part of a body that was read doesn't change the verdict of an error status and headers.
#[tokio::test(start_paused = true)]
async fn an_error_response_with_a_truncated_body_keeps_its_verdict() {
    // The status of the first response, its text in the log, the start times of attempts, and the status of the last
    // response.
    let cases: [(u16, Option<&str>, &[u64], u16); 5] = [
        (404, None, &[0], 404),
        (429, Some("error=429 "), &[0, 7], 200),
        (503, Some("error=503 "), &[0, 7], 200),
        // Others go by the break.
        (200, Some("error=unexpected end of file"), &[0, 1], 200),
        (302, Some("error=unexpected end of file"), &[0, 1], 200),
    ];
    for (status, shown, expected, last) in cases {
        let start = Instant::now();
        let starts = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&starts);
        let answer = move |_: Request<UnsyncBoxBody<Bytes, BoxError>>| {
            let mut seen = seen.lock().unwrap();
            seen.push(start.elapsed().as_secs());
            let answer = Response::builder();
            let answer = match seen.len() {
                1 => answer
                    .status(status)
                    .header("retry-after", "7")
                    .body(Parts::new(&["{"]).breaking()),
                _ => answer.body(Parts::new(&["{}"])),
            };
            ready(Ok::<_, BoxError>(answer.unwrap()))
        };
        let retries = ClientRetries::new(POLICY).read_bodies(4096);
        let client = RetryLayer::new(retries).layer(service_fn(answer));
        let recording = testing::record();
        let answer = client.oneshot(post(Parts::new(&["hello"]))).await.unwrap();
        assert_eq!(answer.status(), last, "{status}");
        assert_eq!(*starts.lock().unwrap(), expected, "{status}");
        let lines = recording.lines();
        let is_shown = |line: &String| shown.is_some_and(|shown| line.contains(shown));
        assert!(lines.iter().take(1).all(is_shown), "{lines:?}");
    }
}

/// The frames that are ready or become so.
fn frames<B: Body<Data = Bytes> + Unpin>(
    body: &mut B,
    most: usize,
) -> Vec<Result<Bytes, B::Error>> {
    let mut context = Context::from_waker(Waker::noop());
    let mut read = Vec::new();
    for _ in 0..100 {
        if read.len() == most {
            break;
        }
        match Pin::new(&mut *body).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => read.push(Ok(frame.into_data().unwrap_or_default())),
            Poll::Ready(Some(Err(error))) => {
                read.push(Err(error));
                break;
            }
            Poll::Ready(None) => break,
            Poll::Pending => {}
        }
    }
    read
}

fn texts(frames: Vec<Result<Bytes, BoxError>>) -> String {
    let bytes: Vec<u8> = frames.into_iter().flat_map(|frame| frame.unwrap().to_vec()).collect();
    String::from_utf8(bytes).unwrap()
}

/// For any part that was read before the retry, the whole body is sent, and its length is known.
#[test]
fn a_recorded_body_can_be_sent_again_at_any_point() {
    let parts = ["ab", "", "cde", "f"];
    for first in 0..=parts.len() + 1 {
        for second in 0..=parts.len() + 1 {
            let (mut before, recording) = Recording::start(Parts::new(&parts), 6);
            frames(&mut before, first);
            let mut between = recording.again().unwrap();
            assert_eq!(between.size_hint().exact(), Some(6), "{first}");
            frames(&mut between, second);
            let mut last = recording.again().unwrap();
            assert_eq!(last.size_hint().exact(), Some(6), "{first} {second}");
            assert!(!last.is_end_stream());
            assert_eq!(texts(frames(&mut last, 10)), "abcdef", "{first} {second}");
            assert!(last.is_end_stream() && recording.is_read());
            // An earlier transmission succeeds only if it has sent the whole body.
            for body in [&mut before, &mut between] {
                let rest = frames(body, 10);
                assert!(rest.iter().all(Result::is_ok));
            }
        }
    }
}

#[test]
fn an_earlier_transmission_fails_if_it_would_read_more() {
    let (mut before, recording) = Recording::start(Parts::new(&["ab", "cd"]), 6);
    assert_eq!(frames(&mut before, 1).len(), 1);
    let mut again = recording.again().unwrap();
    let rest = frames(&mut before, 10);
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].as_ref().unwrap_err().to_string(), "the request is sent again");
    assert_eq!(texts(frames(&mut again, 10)), "abcd");
}

/// Otherwise the earlier transmission would never be polled again, and its connection would stay open. An executor may
/// poll it inside the call of `wake`.
#[test]
fn an_earlier_transmission_is_woken() {
    struct Connection {
        body: Mutex<Recorded<Waiting>>,
        error: OnceLock<String>,
    }
    impl Wake for Connection {
        fn wake(self: Arc<Self>) {
            let waker = Waker::from(Arc::clone(&self));
            let mut body = self.body.lock().unwrap();
            let polled = pin!(&mut *body).poll_frame(&mut Context::from_waker(&waker));
            if let Poll::Ready(Some(Err(error))) = polled {
                self.error.set(error.to_string()).unwrap();
            }
        }
    }
    let (before, recording) = Recording::start(Waiting, 6);
    let connection = Arc::new(Connection { body: Mutex::new(before), error: OnceLock::new() });
    Arc::clone(&connection).wake();
    assert_eq!(connection.error.get(), None);
    let _again = recording.again().unwrap();
    assert_eq!(connection.error.get().unwrap(), "the request is sent again");
}

/// A body whose frames never arrive.
struct Waiting;

impl Body for Waiting {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

#[test]
fn a_body_that_is_too_long_is_not_recorded() {
    let (mut body, recording): (Recorded<Parts>, _) =
        Recording::start(Parts::new(&["abc", "def"]), 4);
    assert_eq!(frames(&mut body, 1).len(), 1);
    assert_eq!(recording.repeatable(), Ok(()));
    assert_eq!(texts(frames(&mut body, 10)), "def");
    assert_eq!(recording.again().unwrap_err(), Unrepeatable::TooLong(4));
}

/// A request stream that continues after its response doesn't fill the memory.
#[test]
fn recording_stops_once_no_retry_is_possible() {
    let (mut body, recording) = Recording::start(Parts::new(&["ab", "cd", "ef"]), 6);
    assert_eq!(frames(&mut body, 1).len(), 1);
    let mut again = recording.again().unwrap();
    drop(recording);
    // The recorded part is replayed, and the rest is read.
    assert_eq!(texts(frames(&mut again, 10)), "abcdef");
    assert!(!body.is_end_stream());
    assert!(frames(&mut body, 10)[0].is_err(), "it ends short");
}
