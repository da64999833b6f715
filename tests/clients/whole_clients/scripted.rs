//! An in-process service with scripted responses at known times.

use std::fmt::Debug;
use std::future::poll_fn;
use std::io::ErrorKind;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use retry_clients::ClientRetries;
use retry_clients::tower::{Retry, RetryLayer};
use support::prelude::*;
use tower::{Layer, Service};

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// The response to one request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Status(u16, &'static [(&'static str, &'static str)]),
    Text(u16, &'static str),
    Fails(ErrorKind),
    /// The service fails to be ready for it.
    Unready(ErrorKind),
    Never,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) after: Duration,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

#[derive(Clone)]
pub(crate) struct Scripted {
    began: Instant,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Scripted {
    /// Responds to the first requests according to the script, and to all later ones with 200.
    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            began: Instant::now(),
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            received: Arc::default(),
        }
    }

    pub(crate) fn under(&self, retries: impl Into<ClientRetries>) -> Retry<Self> {
        RetryLayer::new(retries).layer(self.clone())
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Returns the start times of the attempts, in seconds since the service was created.
    pub(crate) fn starts(&self) -> Vec<f64> {
        let received = self.received();
        let starts = received.iter().map(|request| request.after.as_secs_f64());
        starts.collect()
    }
}

impl<B> Service<Request<B>> for Scripted
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let mut answers = self.answers.lock().unwrap();
        let Some(&Answer::Unready(kind)) = answers.front() else {
            return Poll::Ready(Ok(()));
        };
        answers.pop_front();
        Poll::Ready(Err(io::Error::from(kind).into()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let after = self.began.elapsed();
        let answer = self.answers.lock().unwrap().pop_front();
        let received = Arc::clone(&self.received);
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            received.lock().unwrap().push(Received { after, headers: head.headers, body });
            let (status, headers, text) = match answer.unwrap_or(Answer::Text(200, "hello")) {
                Answer::Status(status, headers) => (status, headers, ""),
                Answer::Text(status, text) => (status, &[][..], text),
                Answer::Fails(kind) | Answer::Unready(kind) => {
                    return Err(io::Error::from(kind).into());
                }
                Answer::Never => return pending().await,
            };
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(*name, *value);
            }
            Ok(response.body(Full::from(text)).unwrap())
        })
    }
}

/// A request with that body.
pub(crate) fn post(body: &'static str) -> Request<Full<Bytes>> {
    let request = Request::post("http://api.example/secret?key=1");
    request.body(Full::from(body)).unwrap()
}

/// Waits until a service is ready, and reserves it.
pub(crate) async fn reserve<S>(service: &mut S)
where
    S: Service<Request<Full<Bytes>>, Error: Debug>,
{
    poll_fn(|context| service.poll_ready(context)).await.unwrap();
}
