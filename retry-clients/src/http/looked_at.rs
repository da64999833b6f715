use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::{Body, Frame, SizeHint};

use crate::BoxError;
use crate::repeat::is_grpc;

/// The body of an answer whose beginning was looked at. It yields all of it.
pub struct LookedAt<B> {
    ahead: VecDeque<Result<Frame<Bytes>, BoxError>>,
    /// What was read as one, for the judge.
    text: Option<Vec<u8>>,
    is_whole: bool,
    rest: B,
}

/// What was seen of an answer besides its head.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(super) trailers: Option<&'a HeaderMap>,
    pub(super) body: Option<&'a [u8]>,
    pub(super) is_whole: bool,
}

impl Seen<'_> {
    /// The head alone.
    #[cfg(any(feature = "async_openai", feature = "reqwest_middleware"))]
    pub(crate) const NOTHING: Self = Self {
        trailers: None,
        body: None,
        is_whole: false,
    };
}

/// How far to look at a body before the answer is handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Nowhere,
    /// At its first frame.
    First,
    /// At that many bytes.
    Bytes(usize),
}

impl Look {
    pub(crate) fn at(headers: &HeaderMap, is_sent: bool, most: usize) -> Self {
        if is_grpc(headers) {
            // With the status in its head, it is all there is. A peer that still sends may wait for the head to go on.
            let is_ended = headers.contains_key("grpc-status");
            return if is_ended || !is_sent {
                Self::Nowhere
            } else {
                Self::First
            };
        }
        let content = headers
            .get(CONTENT_TYPE)
            .map_or(&[][..], |content| content.as_bytes());
        if most == 0 || content.starts_with(b"text/event-stream") {
            return Self::Nowhere;
        }
        Self::Bytes(most)
    }
}

impl<B> LookedAt<B> {
    /// The body of an answer that a `fallback` makes itself: nothing has looked at it.
    pub fn new(rest: B) -> Self {
        Self {
            ahead: VecDeque::new(),
            text: None,
            is_whole: false,
            rest,
        }
    }

    /// What broke it off, as far as it was looked at.
    pub(crate) fn error(&self) -> Option<&(dyn Error + 'static)> {
        match self.ahead.back() {
            Some(Err(error)) => Some(&**error),
            _ => None,
        }
    }

    pub(crate) fn seen(&self) -> Seen<'_> {
        let trailers = self
            .ahead
            .back()
            .and_then(|frame| frame.as_ref().ok()?.trailers_ref());
        Seen {
            trailers,
            body: self.text.as_deref(),
            is_whole: self.is_whole,
        }
    }
}

impl<B> LookedAt<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    pub(crate) async fn look(&mut self, look: Look) {
        match look {
            Look::Nowhere => {}
            Look::First => {
                self.read().await;
            }
            Look::Bytes(most) => {
                let mut text = Vec::new();
                while text.len() < most {
                    let Some(data) = self.read().await else {
                        break;
                    };
                    text.extend_from_slice(&data);
                }
                text.truncate(most);
                self.text = Some(text);
            }
        }
    }

    /// Reads a frame ahead. `None` once no more data can follow.
    async fn read(&mut self) -> Option<Bytes> {
        let frame = poll_fn(|context| Pin::new(&mut self.rest).poll_frame(context)).await;
        let Some(frame) = frame else {
            self.is_whole = true;
            return None;
        };
        let frame = frame.map_err(Into::into);
        let data = frame
            .as_ref()
            .ok()
            .and_then(|frame| frame.data_ref().cloned());
        let is_trailers = frame.as_ref().is_ok_and(Frame::is_trailers);
        self.is_whole = is_trailers || (data.is_some() && self.rest.is_end_stream());
        self.ahead.push_back(frame);
        data
    }
}

impl<B> Body for LookedAt<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(frame) = self.ahead.pop_front() {
            return Poll::Ready(Some(frame));
        }
        let polled = Pin::new(&mut self.rest).poll_frame(context);
        polled.map(|frame| frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.ahead.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let ahead = self
            .ahead
            .iter()
            .filter_map(|frame| frame.as_ref().ok()?.data_ref());
        let ahead: u64 = ahead.map(|data| data.len() as u64).sum();
        longer(ahead, &self.rest.size_hint())
    }
}

/// The hint of a body with so many bytes before the rest.
pub(crate) fn longer(ahead: u64, rest: &SizeHint) -> SizeHint {
    let mut hint = SizeHint::new();
    hint.set_lower(rest.lower().saturating_add(ahead));
    if let Some(upper) = rest.upper() {
        hint.set_upper(upper.saturating_add(ahead));
    }
    hint
}

impl<B> fmt::Debug for LookedAt<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookedAt").finish_non_exhaustive()
    }
}
