//! A gRPC service with one method without arguments, on a real tonic server, and its client.

use std::convert::Infallible;
use std::future::{Future, Ready};
use std::net::{Ipv4Addr, SocketAddr};

use bytes::{Buf, BufMut};
use http::uri::PathAndQuery;
use support::prelude::*;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::Service;
use tonic::server::{NamedService, UnaryService};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};

const PATH: PathAndQuery = PathAndQuery::from_static("/test.Calls/Call");

/// The server's response to a call by its number, starting at 1.
pub(crate) type Answer = Arc<dyn Fn(u32) -> Option<Result<(), Status>> + Send + Sync>;

/// Messages that are texts.
#[derive(Clone, Copy, Default)]
pub(crate) struct Text;

impl Codec for Text {
    type Encode = String;
    type Decode = String;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Text {
    type Item = String;
    type Error = Status;

    fn encode(&mut self, text: String, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(text.as_bytes());
        Ok(())
    }
}

impl Decoder for Text {
    type Item = String;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<String>, Status> {
        let bytes = buffer.copy_to_bytes(buffer.remaining());
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

#[derive(Clone)]
struct Calls {
    answer: Answer,
    count: Arc<AtomicU32>,
}

impl NamedService for Calls {
    const NAME: &'static str = "test.Calls";
}

impl Service<http::Request<Body>> for Calls {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let answer = (self.answer)(number);
        Box::pin(async move {
            let Some(answer) = answer else {
                return pending().await;
            };
            let mut grpc = tonic::server::Grpc::new(Text);
            Ok(grpc.unary(Answering(Some(answer)), request).await)
        })
    }
}

struct Answering(Option<Result<(), Status>>);

impl UnaryService<String> for Answering {
    type Response = String;
    type Future = Ready<Result<Response<String>, Status>>;

    fn call(&mut self, _: Request<String>) -> Self::Future {
        let answer = self.0.take().expect("one call each");
        ready(answer.map(|()| Response::new(String::new())))
    }
}

pub(crate) struct Backend {
    pub(crate) address: SocketAddr,
    count: Arc<AtomicU32>,
}

impl Backend {
    /// Starts a server that responds with `answer`. If it returns `None`, the server never responds.
    pub(crate) fn start(
        patience: Option<Duration>,
        answer: impl Fn(u32) -> Option<Result<(), Status>> + Send + Sync + 'static,
    ) -> Self {
        let incoming = TcpIncoming::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let address = incoming.local_addr().unwrap();
        let count = Arc::new(AtomicU32::new(0));
        let calls = Calls { answer: Arc::new(answer), count: Arc::clone(&count) };
        let mut server = Server::builder();
        if let Some(patience) = patience {
            server = server.timeout(patience);
        }
        tokio::spawn(server.add_service(calls).serve_with_incoming(incoming));
        Self { address, count }
    }

    /// Starts a server that always responds with this status.
    pub(crate) fn failing(status: impl Fn() -> Status + Send + Sync + 'static) -> Self {
        Self::start(None, move |_| Some(Err(status())))
    }

    pub(crate) fn calls(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }
}

pub(crate) fn endpoint(address: SocketAddr) -> Endpoint {
    Channel::from_shared(format!("http://{address}")).unwrap()
}

/// One call of the method.
pub(crate) async fn send(channel: &Channel, deadline: Option<Duration>) -> Result<(), Status> {
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    let ready = grpc.ready().await;
    ready.map_err(|error| Status::from_error(error.into()))?;
    let mut request = Request::new(String::new());
    if let Some(deadline) = deadline {
        request.set_timeout(deadline);
    }
    grpc.unary(request, PATH, Text).await.map(drop)
}
