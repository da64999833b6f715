use std::collections::VecDeque;
use std::error::Error;
use std::future::poll_fn;
use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, response};
use http_body::{Body, Frame, SizeHint};
use tokio::time::timeout;

use super::{Answer, Sent};
use crate::BoxError;
use crate::repeat::is_grpc;

/// A response body whose first bytes were buffered for classification. Yields the whole body.
pub struct PeekedBody<B> {
    buffered: VecDeque<Result<Frame<Bytes>, BoxError>>,
    /// The buffered bytes in one piece, for classification.
    text: Option<Vec<u8>>,
    is_whole: bool,
    /// The unread part. `None` once it was read to its end, or discarded before a retry.
    rest: Option<B>,
}

/// The maximum wait for the first frame of a gRPC response before its headers are returned. Some servers send headers
/// before a call fails. But a stream's first message can come long after the headers, and a caller may wait for the
/// headers, for example to publish only once it is subscribed. A call that fails later is not retried: by gRFC A6,
/// headers commit the call.
const FIRST_FRAME_WAIT: Duration = Duration::from_millis(100);

/// The number of bytes of a failed response that are read so that its connection can be reused. Beyond this, opening a
/// new connection is cheaper.
const MAX_DRAINED: usize = 64 * 1024;

/// Parts of content types such as `text/event-stream`, `application/vnd.amazon.eventstream`,
/// `application/json;stream=watch`, `application/x-ndjson`, `application/jsonl`, `application/json-seq`,
/// `application/connect+json` and `multipart/x-mixed-replace`.
const STREAMS: [&str; 6] = [
    "stream",
    "ndjson",
    "jsonl",
    "json-seq",
    "connect+",
    "multipart/",
];

/// The part of a body to read before the response is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peek {
    Nothing,
    /// The first frame, if it arrives soon.
    FirstFrame,
    /// The first bytes, up to this number.
    Bytes(usize),
}

impl Peek {
    pub(crate) fn for_answer(headers: &HeaderMap, is_sent: bool, most: usize) -> Self {
        if is_grpc(headers) {
            // If the headers contain the status, nothing follows. If the request is still being sent, its sender may
            // wait for the headers.
            let is_ended = headers.contains_key("grpc-status");
            return if is_ended || !is_sent {
                Self::Nothing
            } else {
                Self::FirstFrame
            };
        }
        if most == 0 || headers.get(CONTENT_TYPE).is_some_and(is_stream) {
            return Self::Nothing;
        }
        Self::Bytes(most)
    }
}

/// Returns true if the content type is a stream's.
fn is_stream(content: &HeaderValue) -> bool {
    let content = content.as_bytes().to_ascii_lowercase();
    let content = String::from_utf8_lossy(&content);
    let says = |part| content.contains(part);
    STREAMS.into_iter().any(says) && !says("octet-stream")
}

impl<B> PeekedBody<B> {
    /// Creates the body of a response that a `fallback` returns. Nothing is buffered.
    pub fn new(rest: B) -> Self {
        Self {
            buffered: VecDeque::new(),
            text: None,
            is_whole: false,
            rest: Some(rest),
        }
    }

    /// The error at which reading ahead stopped, if any.
    pub(crate) fn error(&self) -> Option<&(dyn Error + 'static)> {
        match self.buffered.back() {
            Some(Err(error)) => Some(&**error),
            _ => None,
        }
    }

    /// Returns the response with the part of its body that was read.
    pub(crate) fn as_answer<'a>(&'a self, sent: Sent<'a>, head: &'a response::Parts) -> Answer<'a> {
        let last = self.buffered.back();
        Answer {
            sent,
            status: head.status,
            headers: &head.headers,
            trailers: last.and_then(|frame| frame.as_ref().ok()?.trailers_ref()),
            body: self.text.as_deref(),
            is_whole: self.is_whole,
        }
    }
}

impl<B> PeekedBody<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    pub(crate) async fn peek(&mut self, peek: Peek) {
        match peek {
            Peek::Nothing => {}
            Peek::FirstFrame => {
                let _ = timeout(FIRST_FRAME_WAIT, self.read_frame()).await;
            }
            Peek::Bytes(most) => {
                self.read_bytes(most).await;
                let frames = self.buffered.iter().flatten();
                let data = frames.filter_map(Frame::data_ref).flatten().copied();
                self.text = Some(data.take(most).collect());
            }
        }
    }

    /// Waits for the pause, and reads the rest of the body meanwhile. Drops an unread rest after the pause, because it
    /// would occupy a connection or another limited resource of the service. Returns `None` if the call was cancelled,
    /// and so ends with this response.
    pub(crate) async fn drain(&mut self, pause: impl Future<Output = Option<()>>) -> Option<()> {
        let paused = {
            let (mut reading, mut pause) = (pin!(self.read_bytes(MAX_DRAINED)), pin!(pause));
            let mut is_read = false;
            poll_fn(|context| {
                is_read = is_read || reading.as_mut().poll(context).is_ready();
                pause.as_mut().poll(context)
            })
            .await
        };
        if paused.is_some() {
            self.rest = None;
        }
        paused
    }

    /// Reads ahead until `most` bytes have been read.
    async fn read_bytes(&mut self, most: usize) {
        let mut read = 0;
        while read < most {
            let Some(data) = self.read_frame().await else {
                break;
            };
            read += data.len();
        }
    }

    /// Reads a frame ahead. Returns `None` once no more data can follow.
    async fn read_frame(&mut self) -> Option<Bytes> {
        let rest = self.rest.as_mut()?;
        let frame = poll_fn(|context| Pin::new(&mut *rest).poll_frame(context)).await;
        let data = match &frame {
            Some(Ok(frame)) => frame.data_ref().cloned(),
            _ => None,
        };
        self.is_whole = match &frame {
            None => true,
            Some(Ok(frame)) => frame.is_trailers() || rest.is_end_stream(),
            Some(Err(_)) => false,
        };
        if self.is_whole {
            self.rest = None;
        }
        self.buffered
            .extend(frame.map(|frame| frame.map_err(Into::into)));
        data
    }
}

impl<B> Body for PeekedBody<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(frame) = self.buffered.pop_front() {
            return Poll::Ready(Some(frame));
        }
        let Some(rest) = &mut self.rest else {
            let is_whole = mem::replace(&mut self.is_whole, true);
            let gone = || Err("the rest of this response was discarded before a retry".into());
            return Poll::Ready((!is_whole).then(gone));
        };
        let polled = Pin::new(rest).poll_frame(context);
        polled.map(|frame| frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        let is_ended = self.rest.as_ref().map_or(self.is_whole, B::is_end_stream);
        self.buffered.is_empty() && is_ended
    }

    fn size_hint(&self) -> SizeHint {
        let buffered = self
            .buffered
            .iter()
            .filter_map(|frame| frame.as_ref().ok()?.data_ref());
        let buffered: u64 = buffered.map(|data| data.len() as u64).sum();
        let rest = match &self.rest {
            Some(rest) => rest.size_hint(),
            None if self.is_whole => SizeHint::with_exact(0),
            None => SizeHint::new(),
        };
        extend_hint(buffered, &rest)
    }
}

/// The size hint of a body with `buffered` bytes before the rest.
pub(crate) fn extend_hint(buffered: u64, rest: &SizeHint) -> SizeHint {
    let mut hint = SizeHint::new();
    hint.set_lower(rest.lower().saturating_add(buffered));
    if let Some(upper) = rest.upper() {
        hint.set_upper(upper.saturating_add(buffered));
    }
    hint
}

opaque!(PeekedBody<B>);
