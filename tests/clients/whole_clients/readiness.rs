//! What a service reserves for the call that finds it ready.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use retry_clients::ClientRetries;
use retry_clients::tower::RetryLayer;
use retry_runtime::{ConcurrencyLimiter, Jitter, Place, Policy};
use tokio::time::{sleep, timeout};
use tower::limit::ConcurrencyLimit;
use tower::{Layer, ServiceExt};

use super::scripted::{Answer, Scripted, post};

const SECOND: Duration = Duration::from_secs(1);

/// Else it would have the service's only place, while a retry before it in the queue waits for that with its turn in hand.
#[tokio::test(start_paused = true)]
async fn a_call_in_the_queue_keeps_nothing_of_the_service() {
    let limiter = Arc::new(ConcurrencyLimiter::aimd().start(1).most(1));
    let policy = Policy::fixed(SECOND).jitter(Jitter::None);
    let retries = ClientRetries::new(policy).limiter(Arc::clone(&limiter));
    let service = Scripted::new([Answer::Status(503, &[])]);
    let client = RetryLayer::new(retries).layer(ConcurrencyLimit::new(service.clone(), 1));
    let call = async |starts: u32| {
        sleep(starts * SECOND).await;
        client.clone().oneshot(post("")).await
    };
    let other = async {
        sleep(SECOND / 2).await;
        let mut place = Place::new(&*limiter);
        assert!(place.has_turn());
        sleep(5 * SECOND).await;
        place.succeeded();
    };
    // The retry waits from 1 s on, the other call from 2 s on.
    let calls = timeout(60 * SECOND, join(call(0), call(2)));
    let (calls, ()) = join(calls, other).await;
    let (first, second) = calls.expect("no deadlock");
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(service.starts(), [0.0, 5.5, 5.5]);
}
