use std::borrow::Cow;
use std::error::Error;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri, request};
use http_body::Body;
use retry_runtime::Verdict;

use super::{Judged, Repeat, RepeatBody, Unrepeatable};
use crate::client_retries::failed::WithCauses;
use crate::http::{Answer, Peek, PeekedBody, RetryCount, Sent};
use crate::{BoxError, ClientRetries};

/// Marks a request with an idempotency key after an ambiguous failure. Stored in the request's extensions.
#[derive(Clone, Copy)]
struct InDoubt;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The number of earlier attempts that sent the request (gRFC A6).
const PREVIOUS_ATTEMPTS: HeaderName = HeaderName::from_static("grpc-previous-rpc-attempts");

/// The status of a response is checked before the response is returned. So is a gRPC status in trailers without data
/// before them. The body may be read, too: see [`ClientRetries::read_bodies`].
impl<B, A> Repeat<Response<A>> for Request<B>
where
    B: RepeatBody,
    A: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin,
{
    type Kept = (request::Parts, B::Kept);
    type Answer = Response<PeekedBody<A>>;
    const DRAINS: bool = true;

    fn keep(self, most: usize) -> (Self, Self::Kept) {
        let (head, body) = self.into_parts();
        let (first, kept) = body.keep(most);
        (Request::from_parts(head.clone(), first), (head, kept))
    }

    fn keep_again(self, (head, kept): &mut Self::Kept, most: usize) -> Self {
        let (again, body) = self.into_parts();
        head.clone_from(&again);
        Request::from_parts(again, body.keep_again(kept, most))
    }

    fn repeatable((_, body): &Self::Kept) -> Result<(), Unrepeatable> {
        B::repeatable(body)
    }

    fn again((head, body): &Self::Kept, attempts: u32) -> Result<Self, Unrepeatable> {
        let mut again = Request::from_parts(head.clone(), B::again(body)?);
        if is_grpc(&head.headers) {
            let headers = again.headers_mut();
            headers.insert(PREVIOUS_ATTEMPTS, HeaderValue::from(attempts));
        }
        Ok(again)
    }

    async fn judge(
        (head, body): &Self::Kept,
        answer: Response<A>,
        retries: &ClientRetries,
    ) -> Judged<Self::Answer> {
        let sent = Sent {
            method: &head.method,
            is_read: B::is_read(body),
            is_in_doubt: head.extensions.get::<InDoubt>().is_some(),
        };
        judge(sent, answer, retries).await
    }

    async fn drain(
        answer: &mut Self::Answer,
        pause: impl Future<Output = Option<()>> + Send,
    ) -> Option<()> {
        answer.body_mut().drain(pause).await
    }

    fn retried(answer: &mut Self::Answer, retries: u32) {
        answer.extensions_mut().insert(RetryCount(retries));
    }

    fn name((head, _): &Self::Kept) -> Cow<'_, str> {
        name(&head.method, &head.uri, &head.headers)
    }

    fn failed_ambiguously((head, _): &mut Self::Kept) {
        if has_key(&head.headers) {
            head.extensions.insert(InDoubt);
        }
    }

    fn is_idempotent((head, _): &Self::Kept) -> bool {
        is_idempotent(&head.method, &head.headers)
    }
}

pub(super) async fn judge<A>(
    sent: Sent<'_>,
    answer: Response<A>,
    retries: &ClientRetries,
) -> Judged<Response<PeekedBody<A>>>
where
    A: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    let (head, body) = answer.into_parts();
    let mut body = PeekedBody::new(body);
    body.peek(Peek::for_answer(&head.headers, sent.is_read, retries.read))
        .await;
    let (verdict, shown) = verdict_and_text(&body.as_answer(sent, &head), body.error(), retries);
    Judged {
        answer: Response::from_parts(head, body),
        verdict,
        shown,
    }
}

/// Classifies a response, or its body's error. Also returns the text for the log if it is a failure.
pub(super) fn verdict_and_text(
    answer: &Answer<'_>,
    error: Option<&(dyn Error + 'static)>,
    retries: &ClientRetries,
) -> (Option<Verdict>, String) {
    // An error status is a failure, even if only part of its body arrived.
    let is_refused = answer.status().is_client_error() || answer.status().is_server_error();
    let error = error.filter(|_| !is_refused);
    let verdict = retries.judge(match error {
        Some(error) => Err(error),
        None => Ok(answer),
    });
    let shown = match (verdict, error) {
        (None, _) => String::new(),
        (Some(_), Some(error)) => WithCauses(error).to_string(),
        (Some(_), None) => answer.shown(),
    };
    (verdict, shown)
}

pub(super) fn name<'a>(method: &'a Method, uri: &'a Uri, headers: &HeaderMap) -> Cow<'a, str> {
    if is_grpc(headers) {
        return Cow::Borrowed(uri.path().trim_start_matches('/'));
    }
    match uri.host() {
        Some(host) => Cow::Owned(format!("{method} {host}")),
        None => Cow::Borrowed(method.as_str()),
    }
}

pub(super) fn is_idempotent(method: &Method, headers: &HeaderMap) -> bool {
    method.is_idempotent() || has_key(headers)
}

pub(super) fn has_key(headers: &HeaderMap) -> bool {
    headers.contains_key(IDEMPOTENCY_KEY)
}

pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    let content = headers.get(CONTENT_TYPE);
    content.is_some_and(|content| content.as_bytes().starts_with(b"application/grpc"))
}
