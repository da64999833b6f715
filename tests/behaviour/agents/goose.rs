//! <https://github.com/block/goose>, `crates/goose/src/providers/retry.rs`: `RetryConfig`, `should_retry`,
//! `with_retry_config`.

use support::prelude::*;

use crate::Server;

#[derive(Clone, Debug, PartialEq)]
enum ProviderError {
    Authentication,
    ContextLengthExceeded,
    RateLimitExceeded(Option<Duration>),
    ServerError,
}
use ProviderError::{Authentication, ContextLengthExceeded, RateLimitExceeded, ServerError};

fn verdict(error: &ProviderError) -> Verdict {
    match error {
        // Counted separately: one refresh, even after other failures.
        Authentication => Verdict::INVALID,
        RateLimitExceeded(Some(delay)) => Verdict::THROTTLED.after(*delay),
        RateLimitExceeded(None) => Verdict::THROTTLED,
        ServerError => Verdict::TRANSIENT,
        ContextLengthExceeded => Verdict::STOP,
    }
}

struct Provider {
    server: Server<ProviderError>,
    refreshes: u32,
    can_refresh: bool,
    shown: Vec<String>,
}

impl Provider {
    /// 1 s, doubled, at most 30 s, ± 20 %; the provider's own delay is taken as it is.
    #[retry(max = 3, base = "1s", factor = 2, cap = "30s", jitter = 0.2, hint = "exact", on = verdict,
        invalid(max = 1, backoff = "none"),
        before_retry = async |error, _| self.refresh(error),
        observe = |event| if let EventData::Retrying { retry, retry_max: Some(max), .. } = event.data {
            self.shown.push(format!("{retry}/{max}"));
        })]
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
        shown: Vec::new(),
    };
    let error = provider.complete().await.err();
    (provider, error)
}

#[tokio::test(start_paused = true)]
async fn a_providers_delay_is_used_unchanged() {
    let rate_limit = RateLimitExceeded(Some(millis(100)));
    let (provider, error) = complete(&vec![rate_limit.clone(); 4], true).await;
    assert_eq!(error, Some(rate_limit));
    assert_eq!(provider.server.waits(), [millis(100); 3]);
    assert_eq!(provider.shown, ["1/3", "2/3", "3/3"]);
}

#[tokio::test(start_paused = true)]
async fn other_delays_double_and_spread() {
    let _seeded = testing::seed(7);
    let errors = [ServerError, RateLimitExceeded(None), ServerError];
    let (provider, error) = complete(&errors, true).await;
    assert_eq!(error, None);
    for (wait, about) in provider.server.waits().into_iter().zip([1, 2, 4].map(secs)) {
        // The timer has millisecond granularity.
        let range = about * 4 / 5..=about * 6 / 5 + millis(1);
        assert!(range.contains(&wait), "{wait:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_immediate_refresh_in_addition_to_the_other_retries() {
    let limit = RateLimitExceeded(Some(millis(5)));
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

#[tokio::test(start_paused = true)]
async fn permanent_errors_are_not_retried() {
    let (provider, error) = complete(&[ContextLengthExceeded], true).await;
    assert_eq!(error, Some(ContextLengthExceeded));
    assert_eq!(provider.server.asked.len(), 1);
}
