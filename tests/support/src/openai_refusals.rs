//! Error responses of servers with OpenAI's protocol, and the verdicts for any client that keeps the status, the
//! headers and the body. `refused` creates the body for an error type.

use std::time::Duration;

use retry_runtime::Verdict;

use crate::rows;
use crate::scripted::{Answer, answer, answer_with};
use crate::verdicts::BROKEN;

/// All responses below.
pub fn all(refused: impl Fn(&str) -> String) -> Vec<(Answer, Verdict)> {
    let mut all = statuses(&refused);
    all.extend(limits(&refused));
    all.extend(headers(&refused));
    all
}

/// Responses that are classified by the status.
pub fn statuses(refused: impl Fn(&str) -> String) -> Vec<(Answer, Verdict)> {
    let of = |status, kind| answer(status, &refused(kind));
    let failed = [408, 500, 502, 503, 504, 529].map(|status| (of(status, "t"), BROKEN));
    let wrong = [400, 401, 403, 404, 409, 413, 501, 505];
    let wrong = wrong.map(|status| (of(status, "server_error"), Verdict::STOP));
    let mut all = Vec::from([
        (answer(502, "<html>"), BROKEN),
        (of(425, "t"), Verdict::TRANSIENT),
    ]);
    all.extend(failed);
    all.extend(wrong);
    all
}

/// Responses that are classified by limits in the body.
fn limits(refused: impl Fn(&str) -> String) -> [(Answer, Verdict); 4] {
    [
        (429, "requests", Verdict::THROTTLED),
        (400, "rate_limit_error", Verdict::THROTTLED),
        (429, "insufficient_quota", Verdict::STOP),
        (429, "enforced_spend_limit_reached", Verdict::STOP),
    ]
    .map(|(status, kind, verdict)| (answer(status, &refused(kind)), verdict))
}

/// Responses that are classified by the headers, with any body.
pub fn headers(refused: impl Fn(&str) -> String) -> [(Answer, Verdict); 4] {
    let hint = Duration::from_secs(2);
    let (throttled, busy) = (refused("t"), String::from("busy"));
    let rows = rows! {
        429, ("retry-after", "2"), throttled, Verdict::THROTTLED.after(hint);
        503, ("retry-after-ms", "2000"), busy.clone(), Verdict::TRANSIENT.after(hint);
        503, ("x-should-retry", "false"), busy.clone(), Verdict::TRANSIENT.once();
        409, ("x-should-retry", "true"), busy, Verdict::TRANSIENT;
    };
    rows.map(|(status, header, body, verdict)| (answer_with(status, &[header], &body), verdict))
}
