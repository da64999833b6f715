//! The standard's retries: `maxRetries` is `max`, `maxDuration` is `deadline`, and a delay with jitter is a range here.

use std::sync::atomic::Ordering::SeqCst;

use support::prelude::*;

use super::Error;
use crate::conformance::millis;

/// Fails after that time, and counts.
struct Client {
    takes: Duration,
    count: AtomicU32,
}

#[retry(max = 2, backoff = "none")]
impl Client {
    async fn class_level(&self) -> Result<(), Error> {
        self.fail().await
    }

    #[retry(max = 90, backoff = "fixed", base = "200ms", deadline = "1s")]
    async fn overrides(&self) -> Result<(), Error> {
        self.fail().await
    }

    #[retry(skip)]
    async fn fail(&self) -> Result<(), Error> {
        self.count.fetch_add(1, SeqCst);
        sleep(self.takes).await;
        Err(Error::Failed)
    }
}

#[retry(policy = policy)]
async fn method(client: &Client, policy: &Policy) -> Result<(), Error> {
    client.fail().await
}

#[tokio::test(start_paused = true)]
async fn attempts() {
    let policy = |text: &str| text.parse::<Policy>().unwrap();
    for (name, text, takes, least, most) in rows! {
        "RetryTest.testRetryMaxRetries", "max=5, backoff=none", 0, 6, 6;
        "RetryTest.testRetryMaxDuration", "max=90, backoff=fixed, base=200ms, deadline=1s", 100, 4, 10;
        "RetryTest.testRetryMaxDurationSeconds", "max=90, backoff=fixed, base=200ms, deadline=1s", 100, 4, 10;
        "RetryTest.testRetryWithDelay", "max=90, backoff=fixed, base=400ms, jitter=none, deadline=3200ms", 100, 7, 7;
        "RetryTest.testRetryWithNoDelayAndJitter",
            "max=90, backoff=fixed, base=400ms, jitter=full, deadline=3200ms", 0, 8, 100;
        "ZeroRetryJitterTest.test", "max=3, backoff=fixed, base=199ms, jitter=none, deadline=600ms", 0, 4, 4;
        "RetryTest.testClassLevelRetryMaxRetries", "", 0, 3, 3;
        "RetryTest.testClassLevelRetryMaxDuration", "", 100, 4, 10;
        "RetryTest.testClassLevelRetryMaxDurationSeconds", "", 100, 4, 10;
    } {
        let client = Client {
            takes: millis(takes),
            count: AtomicU32::new(0),
        };
        let ended = match (text, takes) {
            ("", 0) => client.class_level().await,
            ("", _) => client.overrides().await,
            _ => method(&client, &policy(text)).await,
        };
        assert_eq!(ended, Err(Error::Failed), "{name}");
        let count = client.count.load(SeqCst);
        assert!((least..=most).contains(&count), "{name}: {count}");
    }
}

#[tokio::test(start_paused = true)]
async fn timeouts() {
    #[retry(max = 1, backoff = "none", timeout = "500ms", on = |_| is_named)]
    async fn service(is_named: bool, takes: u64, count: &AtomicU32) -> Result<(), Error> {
        count.fetch_add(1, SeqCst);
        sleep(millis(takes)).await;
        Err(Error::Failed)
    }

    for (name, is_named, takes, end, attempts) in rows! {
        "RetryTimeoutTest.testRetryTimeout", true, 1000, Error::TimedOut, 2;
        "RetryTimeoutTest.testRetryNoTimeout", true, 10, Error::Failed, 2;
        "RetryTimeoutTest.testRetryWithoutRetryOn", false, 1000, Error::TimedOut, 1;
        "RetryTimeoutTest.testRetryWithAbortOn", false, 1000, Error::TimedOut, 1;
    } {
        let count = AtomicU32::new(0);
        assert_eq!(service(is_named, takes, &count).await, Err(end), "{name}");
        assert_eq!(count.load(SeqCst), attempts, "{name}");
    }
}

/// `retryOn` and `abortOn` are one function here.
#[test]
fn conditions() {
    #[retry(max = 3, backoff = "none", on = |_| verdict)]
    fn service(verdict: Verdict, count: &AtomicU32) -> Result<(), Error> {
        count.fetch_add(1, SeqCst);
        Err(Error::Failed)
    }

    for (names, verdict, attempts) in rows! {
        ["RetryConditionTest.testRetryOnTrue", "RetryConditionTest.testRetryWithAbortOnFalse",
            "RetryConditionTest.testClassLevelRetryOnTrue",
            "RetryConditionTest.testClassLevelRetryWithAbortOnFalse"], Verdict::TRANSIENT, 4;
        ["RetryConditionTest.testRetryOnFalse", "RetryConditionTest.testRetryWithAbortOnTrue",
            "RetryConditionTest.testClassLevelRetryOnFalse",
            "RetryConditionTest.testClassLevelRetryWithAbortOnTrue"], Verdict::STOP, 1;
    } {
        let count = AtomicU32::new(0);
        assert_eq!(service(verdict, &count), Err(Error::Failed), "{names:?}");
        assert_eq!(count.load(SeqCst), attempts, "{names:?}");
    }
}
