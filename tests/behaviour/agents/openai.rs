//! <https://github.com/openai/openai-python>: `src/openai/_base_client.py` (`_calculate_retry_timeout`,
//! `_should_retry`) and `tests/test_client.py`.

use support::prelude::*;

use crate::{Server, millis, secs};

/// A response: its status, `Retry-After` and `x-should-retry`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Status {
    pub(crate) code: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) should_retry: Option<bool>,
}

pub(crate) const fn status(code: u16) -> Status {
    Status {
        code,
        retry_after: None,
        should_retry: None,
    }
}

/// A `Retry-After` of up to a minute is taken as it is, any other not at all.
pub(crate) fn verdict(status: &Status) -> Verdict {
    let by_status = matches!(status.code, 408 | 409 | 429 | 500..);
    if !status.should_retry.unwrap_or(by_status) {
        return Verdict::STOP;
    }
    match status.retry_after {
        Some(after) if !after.is_zero() && after <= secs(60) => Verdict::TRANSIENT.after(after),
        _ => Verdict::TRANSIENT,
    }
}

struct Client {
    server: Server<Status>,
    /// The values of the header `x-stainless-retry-count`.
    counts: Vec<u32>,
    keys: u32,
}

impl Client {
    /// 0.5 s, doubled, at most 8 s; a quarter of it is random. Here ± 12.5 % about the middle of that.
    #[retry(max = max, base = "437500us", factor = 2, cap = "8s", jitter = 0.142857, hint = "exact",
        on = verdict, attempt = attempt)]
    async fn post(&mut self, max: u32) -> Result<&'static str, Status> {
        self.counts.push(attempt.number() - 1);
        // A function that gives the API key is called for each attempt.
        self.keys += 1;
        self.server.answer()
    }
}

async fn post(answers: Vec<Status>, max: u32) -> (Client, Result<&'static str, Status>) {
    let mut client = Client {
        server: Server::failing(answers),
        counts: Vec::new(),
        keys: 0,
    };
    let outcome = client.post(max).await;
    (client, outcome)
}

#[tokio::test(start_paused = true)]
async fn retried_statuses() {
    let retried = [408, 409, 429, 500, 503, 529].map(|code| (code, true));
    let ended = [400, 401, 403, 404, 422].map(|code| (code, false));
    for (code, is_retried) in retried.into_iter().chain(ended) {
        let (client, _) = post(vec![status(code)], 2).await;
        assert_eq!(client.server.asked.len() == 2, is_retried, "{code}");
    }
    for (code, should_retry) in [(400, true), (500, false)] {
        let answer = Status {
            should_retry: Some(should_retry),
            ..status(code)
        };
        let (client, _) = post(vec![answer], 2).await;
        assert_eq!(client.server.asked.len() == 2, should_retry);
    }
}

/// `test_parse_retry_after_header`: the header, and the wait before the first retry.
#[tokio::test(start_paused = true)]
async fn a_reasonable_retry_after_is_used_unchanged() {
    let _seeded = testing::seed(3);
    for (retry_after, exact) in [
        (Some(secs(20)), Some(secs(20))),
        (Some(secs(60)), Some(secs(60))),
        (Some(secs(0)), None),
        (Some(secs(61)), None),
        (Some(secs(u64::MAX)), None),
        (None, None),
    ] {
        let answer = Status {
            retry_after,
            ..status(429)
        };
        let (client, _) = post(vec![answer], 3).await;
        let wait = client.server.waits()[0];
        match exact {
            Some(exact) => assert_eq!(wait, exact),
            None => assert!(wait >= millis(375) && wait <= millis(501), "{wait:?}"),
        }
    }
}

/// `test_retries_taken`: without failures, after two, after four; two retries by default.
#[tokio::test(start_paused = true)]
async fn retries_are_counted_in_a_header() {
    for failures in [0, 2, 4_u32] {
        let (client, outcome) = post(vec![status(500); failures as usize], 4).await;
        assert_eq!(outcome, Ok("done"));
        assert_eq!(client.counts, (0..=failures).collect::<Vec<_>>());
        assert_eq!(client.keys, failures + 1);
    }
    let (client, outcome) = post(vec![status(500); 9], 2).await;
    assert_eq!((outcome, client.counts), (Err(status(500)), vec![0, 1, 2]));
}

#[tokio::test(start_paused = true)]
async fn delays_double_up_to_eight_seconds() {
    let _seeded = testing::seed(5);
    let (client, _) = post(vec![status(500); 7], 6).await;
    let abouts = [500, 1000, 2000, 4000, 8000, 8000].map(millis);
    for (wait, about) in client.server.waits().into_iter().zip(abouts) {
        let range = about * 3 / 4..=about + millis(1);
        assert!(range.contains(&wait), "{wait:?}");
    }
}
