//! The standard's timeouts, of a method or a whole class. The default, a second, is `timeout = "1s"` here.

use support::prelude::*;

use super::Error;
use crate::conformance::millis;

#[retry(max = 0, timeout = limit)]
async fn service(limit: Duration, takes: Duration) -> Result<(), Error> {
    sleep(takes).await;
    Err(Error::Failed)
}

struct ClassLevel;

#[retry(max = 0, timeout = "500ms")]
impl ClassLevel {
    async fn inherits(&self, takes: Duration) -> Result<(), Error> {
        sleep(takes).await;
        Err(Error::Failed)
    }

    #[retry(timeout = "2s")]
    async fn overrides(&self, takes: Duration) -> Result<(), Error> {
        sleep(takes).await;
        Err(Error::Failed)
    }
}

#[tokio::test(start_paused = true)]
async fn limits() {
    for (name, limit, takes) in [
        ("TimeoutTest.testTimeout", 1000, 20_000),
        ("TimeoutTest.testNoTimeout", 1000, 10),
        ("TimeoutTest.testGTDefaultTimeout", 2000, 2500),
        ("TimeoutTest.testGTDefaultNoTimeout", 2000, 1500),
        ("TimeoutTest.testLTDefaultTimeout", 500, 1000),
        ("TimeoutTest.testLTDefaultNoTimeout", 500, 10),
        ("TimeoutTest.testSecondsTimeout", 2000, 2500),
        ("TimeoutTest.testSecondsNoTimeout", 2000, 1500),
        ("TimeoutTest.testTimeoutClassLevel", 1000, 20_000),
        ("TimeoutTest.testNoTimeoutClassLevel", 1000, 10),
        ("TimeoutTest.testGTDefaultTimeoutOverride", 2000, 2500),
        ("TimeoutTest.testGTDefaultNoTimeoutOverride", 2000, 1500),
        ("TimeoutTest.testLTDefaultTimeoutClassLevel", 500, 1000),
        ("TimeoutTest.testLTDefaultNoTimeoutClassLevel", 500, 10),
        ("TimeoutTest.testGTShorterTimeoutOverride", 2000, 2500),
        ("TimeoutTest.testGTShorterNoTimeoutOverride", 2000, 1500),
        ("AsyncTimeoutTest.testAsyncTimeout", 2000, 5000),
        ("AsyncTimeoutTest.testAsyncNoTimeout", 2000, 500),
        ("AsyncTimeoutTest.testAsyncClassLevelTimeout", 2000, 5000),
    ] {
        let is_late = takes > limit;
        let end = if is_late {
            Error::TimedOut
        } else {
            Error::Failed
        };
        let (start, (limit, takes)) = (Instant::now(), (millis(limit), millis(takes)));
        let ended = match limit {
            _ if !name.contains("ClassLevel") && !name.contains("Override") => {
                service(limit, takes).await
            }
            limit if limit == millis(500) => ClassLevel.inherits(takes).await,
            limit if limit == millis(2000) => ClassLevel.overrides(takes).await,
            limit => service(limit, takes).await,
        };
        assert_eq!(ended, Err(end), "{name}");
        assert_eq!(start.elapsed(), takes.min(limit), "{name}");
    }
}
