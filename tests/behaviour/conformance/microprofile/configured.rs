//! The standard's properties, as an installed file: `Retry/maxRetries` is an entry `default`, `Class/Retry/maxRetries`
//! an entry for the start of a name, `Class/method/Retry/maxRetries` for a whole name. Settings that need the time
//! before the first failure, `maxDuration` and `Timeout`, are for functions that use the policies explicitly.

use std::sync::atomic::Ordering::SeqCst;

use retry_runtime::Policies;
use support::prelude::*;

/// Counts its attempts.
#[derive(Default)]
struct Client(AtomicU32);

impl Client {
    fn fail(&self) -> Result<(), Failure> {
        self.0.fetch_add(1, SeqCst);
        Err(TRANSIENT)
    }
}

#[retry(
    max = 5,
    base = "2s",
    backoff = "fixed",
    jitter = "none",
    name = "Client"
)]
impl Client {
    async fn service(&self) -> Result<(), Failure> {
        self.fail()
    }

    #[retry(max = 1)]
    async fn once(&self) -> Result<(), Failure> {
        self.fail()
    }

    #[retry(max = 1, fallback = async |_| Ok(()))]
    async fn falls_back(&self) -> Result<(), Failure> {
        self.fail()
    }
}

/// A policy for a class overrides a general one, and one for a method overrides both. A row has the tests with these
/// policies, and the attempts of `service`, `once` and `falls_back`.
#[tokio::test(start_paused = true)]
async fn switches_and_numbers() {
    let _turn = crate::turn();
    for (names, installed, attempts) in rows! {
        vec!["DisableTest.testRetryDisabled", "DisableTest.testFallbackSuccess"], "enabled=false", [1, 1, 1];
        vec!["DisableAnnotationGloballyTest.testRetryDisabled"], "default(enabled=false)", [1, 1, 1];
        vec!["DisableAnnotationGloballyEnableOnClassTest.testRetryEnabled",
            "DisableAnnotationGloballyEnableOnClassTest.testFallbackEnabled",
            "DisableFTEnableOnClassTest.testRetryEnabled", "DisableFTEnableOnClassTest.testFallbackEnabled"],
            "default(enabled=false), Client(enabled=true)", [6, 2, 2];
        vec!["DisableAnnotationGloballyEnableOnMethodTest.testRetryEnabled",
            "DisableAnnotationGloballyEnableOnMethodTest.testFallbackDisabled",
            "DisableFTEnableOnMethodTest.testRetryEnabled"],
            "default(enabled=false), Client.once(enabled=true)", [1, 2, 1];
        vec!["DisableAnnotationOnClassTest.testRetryDisabled"], "Client(enabled=false)", [1, 1, 1];
        vec!["DisableAnnotationOnClassEnableOnMethodTest.testRetryEnabled",
            "DisableAnnotationOnClassEnableOnMethodTest.testFallbackDisabled"],
            "Client(enabled=false), Client.once(enabled=true)", [1, 2, 1];
        vec!["DisableAnnotationOnMethodsTest.testRetryDisabled"], "Client.once(enabled=false)", [6, 1, 2];
        vec!["DisableFTEnableGloballyTest.testRetryEnabled",
            "DisableFTEnableGloballyTest.testFallbackEnabled"], "default(enabled=true)", [6, 2, 2];
        vec!["ConfigPropertyGlobalVsClassTest.propertyPriorityTest"], "Client(max=5), default(max=7)", [6, 6, 6];
        vec!["ConfigPropertyGlobalVsClassVsMethodTest.propertyPriorityTest"],
            "Client(max=5), Client.service(max=6), default(max=7)", [7, 6, 6];
        vec!["ConfigPropertyOnClassAndMethodTest.propertyPriorityTest"],
            "Client(max=5), Client.service(max=6)", [7, 6, 6];
        vec!["RetryConfigTest.testConfigMaxRetries"], "Client.service(max=10)", [11, 2, 2];
        vec!["ConfigTest.testConfigMaxRetries"], "Client.service(max=3)", [4, 2, 2];
        // An installed policy for a class overrides its method's attribute. In the standard, the method takes
        // precedence.
        vec!["ConfigTest.testClassLevelConfigMaxRetries",
            "ConfigTest.testClassLevelConfigMethodOverrideMaxRetries"], "Client(max=3)", [4, 4, 4];
    } {
        crate::install(installed);
        let client = Client::default();
        let count = || client.0.swap(0, SeqCst);
        assert_eq!(client.service().await, Err(TRANSIENT), "{names:?}");
        let service = count();
        assert_eq!(client.once().await, Err(TRANSIENT), "{names:?}");
        let once = count();
        assert_eq!(client.falls_back().await, Ok(()), "{names:?}");
        assert_eq!([service, once, count()], attempts, "{names:?}");
    }
}

/// The pauses of five retries.
#[tokio::test(start_paused = true)]
async fn delays() {
    let _turn = crate::turn();
    for (name, installed, least, most) in rows! {
        "RetryConfigTest.testConfigDelay", "Client.service(base=2ms)", 10, 10;
        "RetryConfigTest.testConfigJitter", "Client.service(base=1s, jitter=full)", 100, 5000;
    } {
        crate::install(installed);
        let start = Instant::now();
        assert_eq!(Client::default().service().await, Err(TRANSIENT), "{name}");
        let took = start.elapsed().as_millis();
        assert!((least..=most).contains(&took), "{name}: {took}");
    }
}

const ENDLESS: Policy = Policy::fixed(Duration::from_millis(200))
    .max(10_000)
    .jitter(Jitter::None);

#[retry(policy = policies.over(ENDLESS), timeout, name = "Client.prepared")]
async fn prepared(policies: &Policies, takes: Duration) -> Result<(), Failure> {
    sleep(takes).await;
    Err(TRANSIENT)
}

/// The time after which a call of such a function ends, and with what.
#[tokio::test(start_paused = true)]
async fn times() {
    // No policies are installed meanwhile.
    let _turn = crate::turn();
    let ms = Duration::from_millis;
    for (name, file, takes, end, most) in rows! {
        "RetryConfigTest.testConfigMaxDuration", "Client.prepared(deadline=1s)", ms(0), TRANSIENT, ms(1000);
        "ConfigTest.testConfigMaxDuration", "Client.prepared(deadline=1s)", ms(100), TRANSIENT, ms(1100);
        "ConfigTest.testClassLevelConfigMaxDuration", "Client(deadline=1s)", ms(100), TRANSIENT, ms(1100);
        "TimeoutGlobalConfigTest.testTimeout", "default(timeout=200ms, max=0)", ms(500), TIMEOUT, ms(200);
        "TimeoutMethodConfigTest.testTimeout", "Client.prepared(timeout=200ms, max=0)", ms(500), TIMEOUT, ms(200);
        "TimeoutConfigTest.testConfigValue", "Client.prepared(timeout=1s, max=0)", ms(60_000), TIMEOUT, ms(1000);
        "TimeoutConfigTest.testConfigUnit", "Client.prepared(timeout=1000ms, max=0)", ms(60_000), TIMEOUT, ms(1000);
        "TimeoutConfigTest.testConfigBoth", "Client.prepared(timeout=1000ms, max=0)", ms(60_000), TIMEOUT, ms(1000);
    } {
        let (policies, start) = (file.parse().unwrap(), Instant::now());
        assert_eq!(prepared(&policies, takes).await, Err(end), "{name}");
        let took = start.elapsed();
        assert!((most / 2..=most).contains(&took), "{name}: {took:?}");
    }
}
