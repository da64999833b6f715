//! The standard's fallbacks, of a method or a whole class: a handler or a method, which is an expression here.

use std::sync::atomic::Ordering::SeqCst;

use support::prelude::*;

use super::Error;
use crate::conformance::millis;

type Answer = Result<String, Error>;

/// Counts its attempts, and how many fallbacks were asked.
#[derive(Default)]
struct Client {
    attempts: AtomicU32,
    asked: AtomicU32,
}

impl Client {
    async fn fail(&self, takes: Duration) -> Answer {
        self.attempts.fetch_add(1, SeqCst);
        sleep(takes).await;
        Err(Error::Failed)
    }

    fn ask(&self, service: &str) -> String {
        let asked = self.asked.fetch_add(1, SeqCst) + 1;
        format!("fallback {asked} for {service}")
    }
}

/// Those of a class: the second method has its own.
#[retry(max = 1, backoff = "none", fallback = async |_| Ok(self.ask("class")))]
impl Client {
    async fn class_level(&self) -> Answer {
        self.fail(Duration::ZERO).await
    }

    #[retry(max = 2, fallback = async |gave_up: GaveUp<Error>| Ok(format!("second for {:?}", gave_up.error())))]
    async fn overrides(&self) -> Answer {
        self.fail(Duration::ZERO).await
    }
}

#[retry(max = max, backoff = "none", timeout = "500ms", fallback = async |_| Ok(client.ask(service)))]
async fn method(client: &Client, service: &str, max: u32, takes: Duration) -> Answer {
    client.fail(takes).await
}

#[tokio::test(start_paused = true)]
async fn a_fallback_replaces_the_outcome() {
    for (names, retries, takes) in rows! {
        vec!["FallbackTest.testFallbackSuccess", "FallbackTest.testFallbackWithBeanSuccess"], &[1, 2][..], 0;
        vec!["FallbackTest.testFallbacktNoTimeout"], &[1], 10;
        vec!["FallbackTest.testFallbackTimeout"], &[1], 1000;
        vec!["FallbackTest.testFallbackMethodSuccess", "FallbackTest.testFallbackMethodWithArgsSuccess"], &[1], 0;
        vec!["FallbackTest.testStandaloneHandlerFallback", "FallbackTest.testStandaloneMethodFallback",
            "AsyncFallbackTest.testAsyncFallbackMethodThrows", "AsyncFallbackTest.testAsyncCSFallbackMethodThrows",
            "AsyncFallbackTest.testAsyncCSFallbackFutureCompletesExceptionally"], &[0], 0;
    } {
        let client = Client::default();
        for (max, asked) in retries.iter().zip(1..) {
            client.attempts.store(0, SeqCst);
            let answer = method(&client, names[0], *max, millis(takes)).await;
            let expected = format!("fallback {asked} for {}", names[0]);
            assert_eq!(answer, Ok(expected), "{names:?}");
            assert_eq!(client.attempts.load(SeqCst), max + 1, "{names:?}");
        }
    }
}

#[tokio::test]
async fn a_fallback_of_a_class_applies_to_its_methods() {
    let name = "FallbackTest.testClassLevelFallbackSuccess";
    let client = Client::default();
    let answer = client.class_level().await;
    assert_eq!(answer.unwrap(), "fallback 1 for class", "{name}");
    assert_eq!(client.attempts.swap(0, SeqCst), 2, "{name}");
    let answer = client.overrides().await;
    assert_eq!(answer.unwrap(), "second for Failed", "{name}");
    assert_eq!(client.attempts.load(SeqCst), 3, "{name}");
}

#[tokio::test]
async fn a_success_does_not_call_the_fallback() {
    #[retry(max = 0, fallback = async |_| Ok(client.ask("success")))]
    async fn succeeds(client: &Client) -> Answer {
        Ok(String::from("Success"))
    }

    for name in [
        "AsyncFallbackTest.testAsyncFallbackSuccess",
        "AsyncFallbackTest.testAsyncCSFallbackSuccess",
    ] {
        let client = Client::default();
        assert_eq!(succeeds(&client).await.unwrap(), "Success", "{name}");
        assert_eq!(client.asked.load(SeqCst), 0, "{name}");
    }
}
