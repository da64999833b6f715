//! Protections that are there or not: `None` is a switch that is off.

use retry_runtime::{Breaker, Budget, ConcurrencyLimiter, retry};
use support::failure::{Failure, TRANSIENT};

use crate::keys::Script;

#[derive(Default)]
struct Client {
    budget: Option<Budget>,
    breaker: Option<Breaker>,
    limiter: Option<ConcurrencyLimiter>,
}

impl Client {
    #[retry(
        max = 2,
        backoff = "none",
        budget = &self.budget,
        breaker = &self.breaker,
        limiter = self.limiter.as_ref(),
    )]
    async fn load(&self, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }
}

#[tokio::test(start_paused = true)]
async fn each_key_can_be_off() {
    for (client, attempts) in [
        (Client::default(), 3),
        (
            Client {
                budget: Some(Budget::standard().capacity(0)),
                ..Client::default()
            },
            1,
        ),
        (
            Client {
                breaker: Some(Breaker::new().count_window(2)),
                ..Client::default()
            },
            2,
        ),
        (
            Client {
                limiter: Some(ConcurrencyLimiter::fixed(1)),
                ..Client::default()
            },
            3,
        ),
    ] {
        let mut script = Script::new([TRANSIENT; 3]);
        assert_eq!(client.load(&mut script).await, Err(TRANSIENT));
        assert_eq!(script.attempts, attempts);
        if let Some(limiter) = &client.limiter {
            assert_eq!(limiter.running(), 0);
        }
    }
}
