//! <https://github.com/block/goose>, `crates/goose/src/providers/retry.rs`: `RetryConfig`, `should_retry`,
//! `with_retry_config`.

use support::prelude::*;

use crate::Server;

#[derive(Clone, Debug, PartialEq)]
enum ProviderError {
    Authentication,
    RateLimitExceeded(Duration),
}
use ProviderError::{Authentication, RateLimitExceeded};

fn verdict(error: &ProviderError) -> Verdict {
    match error {
        // Counted separately: one refresh, even after other failures.
        Authentication => Verdict::INVALID,
        RateLimitExceeded(delay) => Verdict::THROTTLED.after(*delay),
    }
}

struct Provider {
    server: Server<ProviderError>,
    refreshes: u32,
    can_refresh: bool,
}

impl Provider {
    /// 1 s, doubled, at most 30 s, ± 20 %; the provider's own delay is taken as it is.
    #[retry(max = 3, base = "1s", factor = 2, cap = "30s", jitter = 0.2, hint = "exact", on = verdict,
        invalid(max = 1, backoff = "none"),
        before_retry = async |error, _| self.refresh(error))]
    async fn complete(&mut self) -> Result<&'static str, ProviderError> {
        self.server.answer()
    }

    fn refresh(&mut self, error: &ProviderError) -> Result<(), &'static str> {
        if *error != Authentication {
            return Ok(());
        }
        self.refreshes += 1;
        self.can_refresh.then_some(()).ok_or("not implemented")
    }
}

async fn complete(
    errors: &[ProviderError],
    can_refresh: bool,
) -> (Provider, Option<ProviderError>) {
    let mut provider = Provider {
        server: Server::failing(errors.iter().cloned()),
        refreshes: 0,
        can_refresh,
    };
    let error = provider.complete().await.err();
    (provider, error)
}

#[tokio::test(start_paused = true)]
async fn one_immediate_refresh_in_addition_to_the_other_retries() {
    let limit = RateLimitExceeded(millis(5));
    let errors = [limit.clone(), Authentication, limit.clone(), limit];
    let (provider, error) = complete(&errors, true).await;
    assert_eq!((error, provider.refreshes), (None, 1));
    let five = millis(5);
    assert_eq!(provider.server.waits(), [five, Duration::ZERO, five, five]);

    let (provider, error) = complete(&[Authentication, Authentication], true).await;
    assert_eq!((error, provider.refreshes), (Some(Authentication), 1));
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_fails_leaves_the_first_error() {
    let (provider, error) = complete(&[Authentication], false).await;
    assert_eq!(error, Some(Authentication));
    assert_eq!((provider.refreshes, provider.server.asked.len()), (1, 1));
}
