use http::Method;
use reqwest::{Body, Response, ResponseBuilderExt};

use super::Judged;
use super::http::{judge, meaning};
use crate::ClientRetries;
use crate::http::{Answer, Look, Seen};

#[cfg(feature = "reqwest_middleware")]
mod request;

/// As any answer. A body that is not looked at stays as it is.
pub(super) async fn judge_response(
    method: &Method,
    is_sent: bool,
    answer: Response,
    retries: &ClientRetries,
) -> Judged<Response> {
    if Look::at(answer.headers(), is_sent, retries.read) == Look::Nowhere {
        let seen = Answer::new(method, answer.status(), answer.headers(), Seen::NOTHING);
        let (verdict, shown) = meaning(&seen, None, retries);
        return Judged {
            answer,
            verdict,
            shown,
        };
    }
    let url = answer.url().clone();
    let judged = judge(
        method,
        is_sent,
        http::Response::<Body>::from(answer),
        retries,
    )
    .await;
    let (mut head, body) = judged.answer.into_parts();
    if let Ok(with_url) = http::Response::builder().url(url).body(()) {
        head.extensions.extend(with_url.into_parts().0.extensions);
    }
    let answer = http::Response::from_parts(head, Body::wrap(body)).into();
    Judged {
        answer,
        verdict: judged.verdict,
        shown: judged.shown,
    }
}
