//! The checks that all real clients share.

use retry_runtime::testing;
use support::scripted::{Server, answer, answer_with, closed};

/// Makes a call for each script of responses with these bodies. It returns true if it succeeded.
pub(crate) async fn check(refusal: &str, success: &str, call: impl AsyncFn(&Server) -> bool) {
    let _skipped = testing::skip_sleeps();
    let hinted = answer_with(429, &[("retry-after", "1")], refusal);
    for (answers, requests, succeeds) in [
        (vec![answer(503, refusal), hinted, closed(), answer(200, success)], 4, true),
        (vec![answer(404, refusal)], 1, false),
        (vec![answer(500, refusal)], 4, false),
    ] {
        let server = Server::start(answers.clone());
        let succeeded = call(&server).await;
        assert_eq!((server.requests(), succeeded), (requests, succeeds), "{answers:?}");
    }
}
