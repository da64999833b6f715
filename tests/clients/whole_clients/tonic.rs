//! tonic's channel with a loopback server that responds frame by frame.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};

use bytes::{BufMut, Bytes};
use futures_util::future::{BoxFuture, pending, ready};
use futures_util::{Stream, StreamExt, stream};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use retry_clients::ClientRetries;
use retry_clients::tower::{Retry, RetryLayer};
use support::prelude::*;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::server::NamedService;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Code, Status};
use tower::{Layer, Service, ServiceExt, service_fn};

use super::scripted::{Answer as Scripting, Scripted, post};
use crate::tonic::service::{Backend as Hung, Text, endpoint};

const PATH: PathAndQuery = PathAndQuery::from_static("/test.Frames/Call");

type Pairs = &'static [(&'static str, &'static str)];

/// A gRPC response: headers, messages, trailers.
#[derive(Clone, Copy, Debug)]
struct Answer(Pairs, &'static [&'static str], Pairs);

const OK: Answer = Answer(&[], &["one"], &[("grpc-status", "0")]);
/// Refused in the headers, and in trailers that follow them.
const REFUSED: Answer = Answer(&[("grpc-status", "14")], &[], &[]);
const REFUSED_LATER: Answer = Answer(&[], &[], &[("grpc-status", "14")]);
const BROKEN_OFF: Answer = Answer(&[], &["one"], &[("grpc-status", "14")]);

const PUSHED_BACK: Answer =
    Answer(&[("grpc-status", "8"), ("grpc-retry-pushback-ms", "3000")], &[], &[]);
const NEVER: Answer = Answer(&[("grpc-status", "14"), ("grpc-retry-pushback-ms", "-1")], &[], &[]);
const EXHAUSTED: Answer = Answer(&[("grpc-status", "8")], &[], &[]);
const NOT_FOUND: Answer = Answer(&[], &[], &[("grpc-status", "5")]);
const THREE: Answer = Answer(&[], &["one", "two", "three"], &[("grpc-status", "0")]);
const NONE: Answer = Answer(&[], &[], &[("grpc-status", "0")]);

#[derive(Clone)]
struct Frames {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    received: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
}

impl NamedService for Frames {
    const NAME: &'static str = "test.Frames";
}

fn headers(pairs: Pairs) -> HeaderMap {
    let pairs = pairs.iter();
    let pairs = pairs.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
    pairs.collect()
}

fn message(text: &str) -> Frame<Bytes> {
    let mut message = vec![0];
    message.put_u32(u32::try_from(text.len()).unwrap());
    message.put_slice(text.as_bytes());
    Frame::data(message.into())
}

impl Service<Request<Body>> for Frames {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (head, body) = request.into_parts();
        if head.headers.contains_key("echo") {
            return Box::pin(ready(Ok(grpc(HeaderMap::new(), body))));
        }
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(OK);
        let received = Arc::clone(&self.received);
        Box::pin(async move {
            let body = body.collect().await.unwrap().to_bytes();
            received.lock().unwrap().push((head.headers, body));
            let Answer(first, messages, last) = answer;
            let mut frames: Vec<_> = messages.iter().map(|text| message(text)).collect();
            if !last.is_empty() {
                frames.push(Frame::trailers(headers(last)));
            }
            let frames = stream::iter(frames.into_iter().map(Ok::<_, Status>));
            Ok(grpc(headers(first), Body::new(StreamBody::new(frames))))
        })
    }
}

fn grpc(headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.headers_mut() = headers;
    let content = "application/grpc".parse().unwrap();
    response.headers_mut().insert("content-type", content);
    response
}

struct Backend {
    address: SocketAddr,
    frames: Frames,
}

impl Backend {
    fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let incoming = TcpIncoming::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let address = incoming.local_addr().unwrap();
        let frames = Frames {
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            received: Arc::default(),
        };
        let mut server = Server::builder();
        tokio::spawn(server.add_service(frames.clone()).serve_with_incoming(incoming));
        Self { address, frames }
    }

    async fn client(&self, retries: impl Into<ClientRetries>) -> Grpc<Retry<Channel>> {
        let channel = Channel::from_shared(format!("http://{}", self.address)).unwrap();
        let channel = RetryLayer::new(retries).layer(channel.connect_lazy());
        let mut client = Grpc::new(channel);
        client.ready().await.unwrap();
        client
    }

    fn received(&self) -> Vec<(HeaderMap, Bytes)> {
        self.frames.received.lock().unwrap().clone()
    }
}

async fn unary(client: &mut Grpc<Retry<Channel>>) -> Result<String, Code> {
    let request = tonic::Request::new(String::from("hello"));
    let answer = client.unary(request, PATH, Text).await;
    answer.map(tonic::Response::into_inner).map_err(|status| status.code())
}

#[tokio::test]
async fn unary_calls() {
    let _skipped = testing::skip_sleeps();
    let cases: &[(&[Answer], usize, Result<&str, Code>)] = &[
        (&[], 1, Ok("one")),
        (&[REFUSED, REFUSED_LATER], 3, Ok("one")),
        (&[PUSHED_BACK], 2, Ok("one")),
        (&[NEVER], 1, Err(Code::Unavailable)),
        (&[EXHAUSTED], 2, Ok("one")),
        (&[NOT_FOUND], 1, Err(Code::NotFound)),
        (&[REFUSED_LATER; 9], 4, Err(Code::Unavailable)),
        // The response has started.
        (&[BROKEN_OFF], 1, Err(Code::Unavailable)),
    ];
    for (answers, requests, expected) in cases {
        let backend = Backend::start(answers.iter().copied());
        let answer = unary(&mut backend.client(Policy::new()).await).await;
        assert_eq!(answer.as_deref(), expected.as_ref().map(|text| *text), "{answers:?}");
        let received = backend.received();
        assert_eq!(received.len(), *requests, "{answers:?}");
        for (number, (headers, body)) in received.iter().enumerate() {
            let previous = headers.get("grpc-previous-rpc-attempts");
            let expected = (number > 0).then(|| number.to_string());
            assert_eq!(previous.map(|value| value.to_str().unwrap()), expected.as_deref());
            assert_eq!(body, &message("hello").into_data().unwrap());
        }
    }
}

/// A layer that doesn't read trailers would report a success.
#[tokio::test]
async fn the_log_shows_the_pushback_and_the_callers_result() {
    let _skipped = testing::skip_sleeps();
    let pushback = Answer(&[("grpc-status", "14"), ("grpc-retry-pushback-ms", "90000")], &[], &[]);
    let backend = Backend::start([pushback, REFUSED_LATER]);
    let recording = testing::record();
    let answer = unary(&mut backend.client(Policy::new().max(1)).await).await;
    assert_eq!(answer, Err(Code::Unavailable));
    assert!(recording.delays()[0] >= Duration::from_secs(90));
    let lines = recording.lines();
    assert!(lines[0].starts_with("retrying test.Frames/Call attempt=1 max=1 delay="), "{lines:?}");
    assert!(lines[1].starts_with("gave up test.Frames/Call attempt=2 max=1"), "{lines:?}");
    assert!(lines[1].ends_with("reason=exhausted"), "{lines:?}");
}

async fn read(messages: impl Stream<Item = Result<String, Status>>) -> (Vec<String>, Option<Code>) {
    let mut messages = std::pin::pin!(messages);
    let mut read = Vec::new();
    while let Some(message) = messages.next().await {
        match message {
            Ok(message) => read.push(message),
            Err(status) => return (read, Some(status.code())),
        }
    }
    (read, None)
}

/// The response, the number of requests, and the items that the caller reads.
type StreamCase = (&'static [Answer], usize, &'static [&'static str], Option<Code>);

#[tokio::test]
async fn server_streams() {
    let _skipped = testing::skip_sleeps();
    let cases: &[StreamCase] = &[
        (&[THREE], 1, &["one", "two", "three"], None),
        (&[NONE], 1, &[], None),
        (&[REFUSED, REFUSED_LATER, THREE], 3, &["one", "two", "three"], None),
        (&[BROKEN_OFF], 1, &["one"], Some(Code::Unavailable)),
    ];
    for (answers, requests, messages, end) in cases {
        let backend = Backend::start(answers.iter().copied());
        let mut client = backend.client(Policy::new()).await;
        let request = tonic::Request::new(String::from("hello"));
        let stream = client.server_streaming(request, PATH, Text).await.unwrap();
        let (read, ended) = read(stream.into_inner()).await;
        assert_eq!(
            (read, ended),
            (messages.iter().map(ToString::to_string).collect(), *end),
            "{answers:?}"
        );
        assert_eq!(backend.received().len(), *requests, "{answers:?}");
    }
}

/// Both sides wait for each other, so the head can't wait for a message.
#[tokio::test]
async fn a_bidirectional_stream_is_not_blocked() {
    let backend = Backend::start([]);
    let mut client = backend.client(Policy::new()).await;
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    let messages =
        stream::unfold(receiver, async |mut receiver: tokio::sync::mpsc::Receiver<String>| {
            receiver.recv().await.map(|message| (message, receiver))
        });
    let mut request = tonic::Request::new(messages.boxed());
    request.metadata_mut().insert("echo", "yes".parse().unwrap());
    let answer = timeout(Duration::from_secs(20), async {
        let mut answer = client.streaming(request, PATH, Text).await.unwrap().into_inner();
        for text in ["one", "two"] {
            sender.send(text.to_owned()).await.unwrap();
            assert_eq!(answer.message().await.unwrap().unwrap(), text);
        }
    });
    answer.await.unwrap();
}

/// The first message of a stream may depend on what the caller does with the head.
#[tokio::test(start_paused = true)]
async fn the_head_is_held_back_for_a_moment_only() {
    // When the call fails in its trailers, when the caller gets the head, and how many requests there are.
    let cases = [(Some(99), 1099, 2), (Some(101), 100, 1), (None, 100, 1)];
    for (fails, held, requests) in cases {
        let sent = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&sent);
        let service = service_fn(move |_: Request<Full<Bytes>>| {
            let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
            let (fails, status) = if is_first { (fails, "14") } else { (Some(0), "0") };
            let trailers = async move {
                match fails {
                    Some(after) => sleep(Duration::from_millis(after)).await,
                    None => pending().await,
                }
                let mut trailers = HeaderMap::new();
                trailers.insert("grpc-status", HeaderValue::from_static(status));
                Ok::<_, Status>(Frame::trailers(trailers))
            };
            let body = Body::new(StreamBody::new(Box::pin(stream::once(trailers))));
            ready(Ok::<_, Infallible>(grpc(HeaderMap::new(), body)))
        });
        let start = Instant::now();
        let policy = Policy::fixed(Duration::from_secs(1)).jitter(Jitter::None);
        let mut client = RetryLayer::new(policy).layer(service);
        let called = timeout(Duration::from_mins(1), client.call(post(""))).await;
        called.expect("no deadlock").unwrap();
        assert_eq!(start.elapsed().as_millis(), held, "{fails:?}");
        assert_eq!(sent.load(Ordering::Relaxed), requests, "{fails:?}");
    }
}

/// Inside the channel, a request's time limit is an error of the transport, not yet a status.
#[tokio::test]
async fn a_timeout_of_the_channel_is_a_timeout() {
    let _skipped = testing::skip_sleeps();
    let hung = Hung::start(None, |_| None);
    let patience = Duration::from_millis(50);
    let channel = endpoint(hung.address).timeout(patience).connect_lazy();
    let breaker = Arc::new(Breaker::new().consecutive_failures(4));
    let retries = ClientRetries::new(Policy::new()).breaker(Arc::clone(&breaker));
    let call = Request::post("/test.Calls/Call").header("content-type", "application/grpc");
    let call = call.body(Body::empty()).unwrap();
    let recording = testing::record();
    let sent = RetryLayer::new(retries).layer(channel).oneshot(call).await;
    assert!(sent.is_err());
    assert_eq!(hung.calls(), 4);
    assert_eq!(Breaker::state(&breaker), BreakerState::Open);
    let lines = recording.lines();
    assert!(lines.last().unwrap().ends_with("reason=exhausted"), "{lines:?}");
}

/// A server that can't be reached, and malformed details in a status.
#[tokio::test]
async fn an_unreachable_server_and_garbled_details_are_handled() {
    let _skipped = testing::skip_sleeps();
    let backend = Backend { address: support::loopback::closed_port(), ..Backend::start([]) };
    let recording = testing::record();
    assert_eq!(unary(&mut backend.client(Policy::new()).await).await, Err(Code::Unavailable));
    assert_eq!(recording.delays().len(), 3);

    let garbled: Pairs = &[
        ("content-type", "application/grpc"),
        ("grpc-status", "14"),
        ("grpc-status-details-bin", "!!"),
        ("grpc-message", "%zz"),
    ];
    let service = Scripted::new([Scripting::Status(200, garbled)]);
    service.under(Policy::new()).oneshot(post("")).await.unwrap();
    assert_eq!(service.received().len(), 2);
}
