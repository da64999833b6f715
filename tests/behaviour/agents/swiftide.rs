//! <https://github.com/bosun-ai/swiftide>, `swiftide-core`: `BackoffConfiguration`, `LanguageModelWithBackOff`. It uses
//! the crate `backoff`, which stops if the next delay would exceed the total time.

use support::prelude::*;

use crate::Server;

#[derive(Clone, Debug, PartialEq)]
enum LanguageModelError {
    ContextLengthExceeded,
    PermanentError,
    TransientError,
}
use LanguageModelError::{ContextLengthExceeded, PermanentError, TransientError};

/// 1 s, doubled, for 60 s in all, ± 50 %.
const POLICY: Policy = Policy::new()
    .max(u32::MAX)
    .base(secs(1))
    .factor(2.0)
    .cap(secs(60))
    .deadline(secs(60));

#[retry(policy = policy, on = |error| Verdict::from(*error == TransientError))]
async fn complete(
    policy: &Policy,
    server: &mut Server<LanguageModelError>,
) -> Result<&'static str, LanguageModelError> {
    server.answer()
}

#[tokio::test(start_paused = true)]
async fn it_gives_up_if_the_next_delay_would_exceed_the_total_time() {
    let mut server = Server::failing(vec![TransientError; 99]);
    let policy = POLICY.jitter(Jitter::None);
    assert_eq!(complete(&policy, &mut server).await, Err(TransientError));
    assert_eq!(server.waits(), [1, 2, 4, 8, 16].map(secs));
    assert_eq!(server.start.elapsed(), secs(31));
}

#[tokio::test(start_paused = true)]
async fn delays_spread_by_half() {
    let _seeded = testing::seed(11);
    let mut server = Server::failing(vec![TransientError; 4]);
    let policy = POLICY.jitter(Jitter::Ratio(0.5));
    assert_eq!(complete(&policy, &mut server).await, Ok("done"));
    for (wait, about) in server.waits().into_iter().zip([1, 2, 4, 8].map(secs)) {
        let range = about / 2..=about * 3 / 2 + millis(1);
        assert!(range.contains(&wait), "{wait:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn permanent_errors_end_at_once() {
    for error in [ContextLengthExceeded, PermanentError] {
        let mut server = Server::failing([error.clone()]);
        assert_eq!(complete(&POLICY, &mut server).await, Err(error));
        assert_eq!(server.asked.len(), 1);
    }
}
