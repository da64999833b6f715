//! A wrapped client whose errors decide the retries.

use support::prelude::*;

use self::vendor::ModelClient;

/// Stands in for another crate.
mod vendor {
    use support::failure::Failure;

    pub(super) trait ModelClient {
        async fn generate(&self, prompt: &str) -> Result<String, Failure>;
    }
}

/// The service's first responses, in order; all later ones are a message.
struct Vendor {
    script: RefCell<VecDeque<Failure>>,
    attempts: Cell<u32>,
}

impl Vendor {
    fn new(script: impl IntoIterator<Item = Failure>) -> Self {
        Self {
            script: RefCell::new(script.into_iter().collect()),
            attempts: Cell::new(0),
        }
    }
}

impl ModelClient for Vendor {
    async fn generate(&self, prompt: &str) -> Result<String, Failure> {
        self.attempts.set(self.attempts.get() + 1);
        let failure = self.script.borrow_mut().pop_front();
        failure.map_or_else(|| Ok(format!("{prompt}: done")), Err)
    }
}

#[tokio::test(start_paused = true)]
async fn delays_follow_what_failed() {
    #[retry(wrapper = Adapting, of = ModelClient, max = 5, base = "1s", factor = 2, jitter = "none",
        throttled(base = "10s", cap = "2m"), timed_out(backoff = "none"))]
    trait Copied {
        async fn generate(&self, prompt: &str) -> Result<String, Failure>;
    }

    let client = Adapting::new(Vendor::new([TRANSIENT, THROTTLED, TIMEOUT, THROTTLED]));
    let start = Instant::now();
    assert_eq!(client.generate("a").await.as_deref(), Ok("a: done"));
    // Each retry doubles the delay of its kind.
    assert_eq!(start.elapsed(), secs(1 + 20 + 80));
}

#[tokio::test(start_paused = true)]
async fn a_predicate_of_ones_own_decides() {
    /// Only what timed out, and what throttles not for long.
    fn is_worth_it(error: &Failure) -> Verdict {
        match error.0.hint() {
            Some(hint) if hint > secs(3) => Verdict::STOP,
            _ if *error == TRANSIENT => Verdict::STOP,
            _ => error.0,
        }
    }

    #[retry(wrapper = Choosing, of = ModelClient, max = 5, backoff = "none", on = is_worth_it)]
    trait Copied {
        async fn generate(&self, prompt: &str) -> Result<String, Failure>;
    }

    let short = Failure(Verdict::THROTTLED.after(secs(1)));
    let long = Failure(Verdict::THROTTLED.after(secs(9)));
    for (failure, attempts) in [(TRANSIENT, 1), (TIMEOUT, 2), (short, 2), (long, 1)] {
        let client = Choosing::new(Vendor::new([failure.clone()]));
        let outcome = client.generate("a").await;
        assert_eq!(outcome.is_ok(), attempts == 2, "{failure}");
        assert_eq!(client.inner().attempts.get(), attempts, "{failure}");
    }
}
