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
    for (names, is_of_class, limit, takes) in rows! {
        vec!["TimeoutTest.testTimeout", "TimeoutTest.testTimeoutClassLevel"], false, 1000, 20_000;
        vec!["TimeoutTest.testNoTimeout", "TimeoutTest.testNoTimeoutClassLevel"], false, 1000, 10;
        vec!["TimeoutTest.testGTDefaultTimeout", "TimeoutTest.testSecondsTimeout"], false, 2000, 2500;
        vec!["TimeoutTest.testGTDefaultNoTimeout", "TimeoutTest.testSecondsNoTimeout"], false, 2000, 1500;
        vec!["TimeoutTest.testLTDefaultTimeout"], false, 500, 1000;
        vec!["TimeoutTest.testLTDefaultNoTimeout"], false, 500, 10;
        vec!["TimeoutTest.testGTDefaultTimeoutOverride", "TimeoutTest.testGTShorterTimeoutOverride"], true, 2000, 2500;
        vec!["TimeoutTest.testGTDefaultNoTimeoutOverride", "TimeoutTest.testGTShorterNoTimeoutOverride"], true, 2000,
            1500;
        vec!["TimeoutTest.testLTDefaultTimeoutClassLevel"], true, 500, 1000;
        vec!["TimeoutTest.testLTDefaultNoTimeoutClassLevel"], true, 500, 10;
        vec!["AsyncTimeoutTest.testAsyncTimeout"], false, 2000, 5000;
        vec!["AsyncTimeoutTest.testAsyncNoTimeout"], false, 2000, 500;
        vec!["AsyncTimeoutTest.testAsyncClassLevelTimeout"], true, 2000, 5000;
    } {
        let (start, (limit, takes)) = (Instant::now(), (millis(limit), millis(takes)));
        let ended = if is_of_class && limit == millis(500) {
            ClassLevel.inherits(takes).await
        } else if is_of_class {
            ClassLevel.overrides(takes).await
        } else {
            service(limit, takes).await
        };
        assert_eq!(ended, Err(Error::of_late(takes > limit)), "{names:?}");
        assert_eq!(start.elapsed(), takes.min(limit), "{names:?}");
    }
}
