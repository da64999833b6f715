//! A call that is dropped at any wait releases everything.

use std::future::Future;

use retry_clients::ClientRetries;
use retry_clients::tower::RetryLayer;
use support::prelude::*;
use tower::limit::ConcurrencyLimit;
use tower::{Layer, Service, ServiceExt};

use super::scripted::{Answer, Scripted, post, reserve};

/// Polls a call a number of times, a second apart, and drops it. Returns true if it ended.
async fn dropped_after(polls: u32, retries: &ClientRetries) -> bool {
    let answers = [Answer::Status(503, &[]), Answer::Status(503, &[]), Answer::Never];
    let service = Scripted::new(answers);
    let mut call = pin!(service.under(retries.clone()).oneshot(post("hello")));
    for _ in 0..polls {
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(ended) = call.as_mut().poll(&mut context) {
            ended.unwrap_err();
            return true;
        }
        advance(Duration::from_secs(1)).await;
    }
    false
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_returns_its_permits_and_tokens() {
    let policy = Policy::fixed(Duration::from_secs(2)).jitter(Jitter::None);
    for polls in 0..20 {
        let budget = Arc::new(Budget::standard());
        let breaker = Arc::new(Breaker::new().consecutive_failures(50).trial_calls(1));
        let limiter = Arc::new(ConcurrencyLimiter::aimd().start(1));
        let retries = ClientRetries::new(policy.timeout(Duration::from_mins(1)))
            .budget(Arc::clone(&budget))
            .breaker(Arc::clone(&breaker))
            .limiter(Arc::clone(&limiter));
        assert!(!dropped_after(polls, &retries).await, "{polls}");
        assert_eq!(limiter.running(), 0, "{polls}");
        assert_eq!(limiter.waiting(), 0, "{polls}");
        assert_eq!(Breaker::state(&breaker), BreakerState::Closed, "{polls}");
        // The cost of the attempts that started. A retry starts every three seconds: a pause of two ends with a poll
        // that yields to other tasks, and the next poll is a second later.
        let begun = (polls.max(1) - 1) / 3;
        let left = 500 - 14 * begun.min(2);
        assert_eq!(budget.available().to_string(), left.to_string(), "{polls}");
    }
}

/// Nothing was sent, so the limiter refunds the attempt's cost.
#[tokio::test(start_paused = true)]
async fn a_turn_is_given_back_while_the_service_is_busy() {
    let limiter = Arc::new(RateLimiter::fixed(1, Duration::from_mins(1)));
    let retries = ClientRetries::new(Policy::none()).limiter(Arc::clone(&limiter));
    let one_place = ConcurrencyLimit::new(Scripted::new([]), 1);
    let mut client = RetryLayer::new(retries).layer(one_place.clone());
    reserve(&mut client).await;
    let call = client.call(post(""));
    let mut busy = one_place;
    reserve(&mut busy).await;
    assert!(timeout(Duration::from_secs(5), call).await.is_err());
    assert_eq!(limiter.available().to_string(), "1");
}
