//! Optional protections: `None` turns a protection off.

use support::prelude::*;

#[derive(Default)]
struct Client {
    budget: Option<Budget>,
    breaker: Option<Breaker>,
    limiter: Option<ConcurrencyLimiter>,
}

impl Client {
    scripted! {
        #[retry(max = 2, backoff = "none", budget = &self.budget, breaker = &self.breaker,
            limiter = self.limiter.as_ref())]
        async fn load(&self, script: &mut Script) -> Result<usize, Failure> = script.next();
    }
}

#[tokio::test(start_paused = true)]
async fn each_key_can_be_off() {
    for (client, attempts) in rows! {
        Client::default(), 3;
        Client { budget: Some(Budget::standard().capacity(0)), ..Client::default() }, 1;
        Client { breaker: Some(Breaker::new().count_window(2)), ..Client::default() }, 2;
        Client { limiter: Some(ConcurrencyLimiter::fixed(1)), ..Client::default() }, 3;
    } {
        let mut script = Script::new([TRANSIENT; 3]);
        assert_eq!(client.load(&mut script).await, Err(TRANSIENT));
        assert_eq!(script.attempts, attempts);
        if let Some(limiter) = &client.limiter {
            assert_eq!(limiter.running(), 0);
        }
    }
}

#[test]
fn without_a_limiter_the_budget_pays_for_throttled_retries() {
    static CLOSED: Breaker = Breaker::new();

    scripted! {
        #[retry(max = 5, backoff = "none", budget = budget, limiter = limiter.clone())]
        fn load(budget: &Budget, limiter: impl AdmissionControl + Clone);
    }

    let attempts = |load: &dyn Fn(&Budget, &mut Script) -> Result<usize, Failure>| {
        let budget = Budget::standard().capacity(14);
        let mut script = Script::new([THROTTLED; 9]);
        assert_eq!(load(&budget, &mut script), Err(THROTTLED));
        (script.attempts, budget.available())
    };
    let limiter = ConcurrencyLimiter::fixed(1);
    for (limits, made) in rows! {
        attempts(&|budget, script| load(budget, Some(&limiter), script)), (6, 14.0);
        attempts(&|budget, script| load(budget, None::<&ConcurrencyLimiter>, script)), (3, 4.0);
        attempts(&|budget, script| load(budget, &CLOSED, script)), (3, 4.0);
    } {
        assert_eq!(limits, made);
    }
}
