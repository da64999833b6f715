//! Dropping the future drops the calls under way and begins no other.

use std::cell::Cell;
use std::time::Duration;

use retry_runtime::{Policy, retry_each};
use support::failure::{Failure, TRANSIENT};
use tokio::time::timeout;

use super::{EXACT, secs};

struct Guard<'a>(&'a Cell<u32>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn drops_calls_under_way() {
    let (begun, dropped) = (Cell::new(0), Cell::new(0));
    let batches = Policy::new().batches(1).concurrency(2);
    let results = retry_each(batches, 0..10, async |pending: Vec<u32>| {
        begun.set(begun.get() + 1);
        let _guard = Guard(&dropped);
        tokio::time::sleep(secs(10)).await;
        Ok::<_, Failure>(pending.into_iter().map(Ok).collect())
    });
    assert!(timeout(secs(15), results).await.is_err());
    assert_eq!((begun.get(), dropped.get()), (4, 4));
    tokio::time::sleep(secs(100)).await;
    assert_eq!(begun.get(), 4);
}

#[tokio::test(start_paused = true)]
async fn ends_in_a_pause() {
    let begun = Cell::new(0);
    let results = retry_each(&EXACT, 0..10, async |_: Vec<u32>| {
        begun.set(begun.get() + 1);
        Err::<Vec<Result<u32, _>>, _>(TRANSIENT)
    });
    assert!(timeout(Duration::from_millis(1500), results).await.is_err());
    assert_eq!(begun.get(), 2);
}
