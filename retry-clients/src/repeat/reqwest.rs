use std::mem;

use reqwest::{Body, Response, ResponseBuilderExt, Url};

use super::Judged;
use super::http::{judge, verdict_and_text};
use crate::ClientRetries;
use crate::http::{Answer, Peek, PeekedBody, Sent};

#[cfg(feature = "reqwest_middleware")]
mod request;

/// Classifies a response. A body that isn't read for classification is unchanged.
pub(super) async fn judge_response(
    sent: Sent<'_>,
    answer: Response,
    retries: &ClientRetries,
) -> Judged<Response> {
    if Peek::for_answer(answer.headers(), sent.is_read, retries.read) == Peek::Nothing {
        let head = Answer {
            sent,
            status: answer.status(),
            headers: answer.headers(),
            trailers: None,
            body: None,
            is_whole: false,
        };
        let (verdict, shown) = verdict_and_text(&head, None, retries);
        return Judged {
            answer,
            verdict,
            shown,
        };
    }
    let url = answer.url().clone();
    let judged = judge(sent, http::Response::<Body>::from(answer), retries).await;
    Judged {
        answer: with_url(judged.answer, url),
        verdict: judged.verdict,
        shown: judged.shown,
    }
}

/// Reads the rest of the response during the pause.
pub(super) async fn drain_response(
    answer: &mut Response,
    pause: impl Future<Output = Option<()>> + Send,
) -> Option<()> {
    let url = answer.url().clone();
    let taken = mem::replace(answer, http::Response::new("").into());
    let mut taken = http::Response::<Body>::from(taken).map(PeekedBody::new);
    let paused = taken.body_mut().drain(pause).await;
    *answer = with_url(taken, url);
    paused
}

fn with_url(answer: http::Response<PeekedBody<Body>>, url: Url) -> Response {
    let (mut head, body) = answer.into_parts();
    if let Ok(with_url) = http::Response::builder().url(url).body(()) {
        head.extensions.extend(with_url.into_parts().0.extensions);
    }
    http::Response::from_parts(head, Body::wrap(body)).into()
}
