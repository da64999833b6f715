//! Its properties, which are an installed file here: `Retry/maxRetries` is an entry `default`, `Class/Retry/maxRetries`
//! one for the beginning of a name, `Class/method/Retry/maxRetries` one for all of it. Settings that need the time
//! before the first failure, `maxDuration` and `Timeout`, are for functions that use the policies explicitly.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use retry_runtime::{Jitter, Policies, Policy, retry};
use support::failure::{Failure, TIMEOUT, TRANSIENT};
use support::rows;
use tokio::time::{Instant, sleep};

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

const OFF: &str = "default(enabled=false)";
const CLASS: &str = "default(enabled=false), Client(enabled=true)";
const METHOD: &str = "default(enabled=false), Client.once(enabled=true)";
const CLASS_OFF: &str = "Client(enabled=false)";
const CLASS_OFF_METHOD: &str = "Client(enabled=false), Client.once(enabled=true)";

/// A row is a test: what is installed, and the attempts of `service`, `once` and `falls_back`.
const ROWS: [(&str, &str, [u32; 3]); 22] = rows! {
    "DisableTest.testRetryDisabled", "enabled=false", [1, 1, 1];
    "DisableTest.testFallbackSuccess", "enabled=false", [1, 1, 1];
    "DisableAnnotationGloballyTest.testRetryDisabled", OFF, [1, 1, 1];
    "DisableAnnotationGloballyEnableOnClassTest.testRetryEnabled", CLASS, [6, 2, 2];
    "DisableAnnotationGloballyEnableOnClassTest.testFallbackEnabled", CLASS, [6, 2, 2];
    "DisableAnnotationGloballyEnableOnMethodTest.testRetryEnabled", METHOD, [1, 2, 1];
    "DisableAnnotationGloballyEnableOnMethodTest.testFallbackDisabled", METHOD, [1, 2, 1];
    "DisableAnnotationOnClassTest.testRetryDisabled", CLASS_OFF, [1, 1, 1];
    "DisableAnnotationOnClassEnableOnMethodTest.testRetryEnabled", CLASS_OFF_METHOD, [1, 2, 1];
    "DisableAnnotationOnClassEnableOnMethodTest.testFallbackDisabled", CLASS_OFF_METHOD, [1, 2, 1];
    "DisableAnnotationOnMethodsTest.testRetryDisabled", "Client.once(enabled=false)", [6, 1, 2];
    "DisableFTEnableGloballyTest.testRetryEnabled", "default(enabled=true)", [6, 2, 2];
    "DisableFTEnableGloballyTest.testFallbackEnabled", "default(enabled=true)", [6, 2, 2];
    "DisableFTEnableOnClassTest.testRetryEnabled", CLASS, [6, 2, 2];
    "DisableFTEnableOnClassTest.testFallbackEnabled", CLASS, [6, 2, 2];
    "DisableFTEnableOnMethodTest.testRetryEnabled", METHOD, [1, 2, 1];
    "ConfigPropertyGlobalVsClassTest.propertyPriorityTest", "Client(max=5), default(max=7)",
        [6, 6, 6];
    "ConfigPropertyGlobalVsClassVsMethodTest.propertyPriorityTest",
        "Client(max=5), Client.service(max=6), default(max=7)", [7, 6, 6];
    "ConfigPropertyOnClassAndMethodTest.propertyPriorityTest",
        "Client(max=5), Client.service(max=6)", [7, 6, 6];
    "RetryConfigTest.testConfigMaxRetries", "Client.service(max=10)", [11, 2, 2];
    "ConfigTest.testConfigMaxRetries", "Client.service(max=3)", [4, 2, 2];
    "ConfigTest.testClassLevelConfigMaxRetries", "Client(max=3)", [4, 4, 4];
};

#[tokio::test(start_paused = true)]
async fn switches_and_numbers() {
    let _turn = crate::turn();
    for (name, installed, attempts) in ROWS {
        crate::install(installed);
        let client = Client::default();
        let count = || client.0.swap(0, SeqCst);
        assert_eq!(client.service().await, Err(TRANSIENT), "{name}");
        let service = count();
        assert_eq!(client.once().await, Err(TRANSIENT), "{name}");
        let once = count();
        assert_eq!(client.falls_back().await, Ok(()), "{name}");
        assert_eq!([service, once, count()], attempts, "{name}");
    }
}

/// An installed policy for a class overrides its method's attribute. In the standard, the method takes precedence.
#[tokio::test(start_paused = true)]
async fn a_file_beats_an_attribute() {
    let _turn = crate::turn();
    let name = "ConfigTest.testClassLevelConfigMethodOverrideMaxRetries";
    crate::install("Client(max=3)");
    let client = Client::default();
    assert_eq!(client.once().await, Err(TRANSIENT), "{name}");
    assert_eq!(client.0.load(SeqCst), 4, "{name}");
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
        "RetryConfigTest.testConfigMaxDuration", "Client.prepared(deadline=1s)", ms(0), TRANSIENT,
            ms(1000);
        "ConfigTest.testConfigMaxDuration", "Client.prepared(deadline=1s)", ms(100), TRANSIENT,
            ms(1100);
        "ConfigTest.testClassLevelConfigMaxDuration", "Client(deadline=1s)", ms(100), TRANSIENT,
            ms(1100);
        "TimeoutGlobalConfigTest.testTimeout", "default(timeout=200ms, max=0)", ms(500), TIMEOUT,
            ms(200);
        "TimeoutMethodConfigTest.testTimeout", "Client.prepared(timeout=200ms, max=0)", ms(500),
            TIMEOUT, ms(200);
        "TimeoutConfigTest.testConfigValue", "Client.prepared(timeout=1s, max=0)", ms(60_000),
            TIMEOUT, ms(1000);
        "TimeoutConfigTest.testConfigUnit", "Client.prepared(timeout=1000ms, max=0)", ms(60_000),
            TIMEOUT, ms(1000);
        "TimeoutConfigTest.testConfigBoth", "Client.prepared(timeout=1000ms, max=0)", ms(60_000),
            TIMEOUT, ms(1000);
    } {
        let (policies, start) = (file.parse().unwrap(), Instant::now());
        assert_eq!(prepared(&policies, takes).await, Err(end), "{name}");
        let took = start.elapsed();
        assert!((most / 2..=most).contains(&took), "{name}: {took:?}");
    }
}
