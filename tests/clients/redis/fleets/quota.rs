use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::join_all;
use retry_clients::redis::FleetQuota;
use retry_runtime::{Rejected, RejectedBy, retry};
use tokio::time::{Instant, sleep};

use crate::redis::fleets::bucket::Bucket;
use crate::redis::fleets::{PROCESSES, RUN, member, nobody};

pub(super) const AMOUNT: u32 = 100;
pub(super) const PERIOD: Duration = Duration::from_secs(1);
pub(super) const BURST: u32 = 10;

#[retry(limiter = quota, deadline = end - Instant::now())]
async fn call(quota: &FleetQuota, end: Instant, begun: &Mutex<Vec<u128>>) -> Result<(), Rejected> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    begun.lock().unwrap().push(now.as_micros());
    Ok(())
}

#[tokio::test]
#[ignore = "a process that the tests start"]
async fn member_of_a_fleet() {
    let Some((key, connection)) = member() else {
        return;
    };
    let quota = FleetQuota::new(&key, AMOUNT, PERIOD, PROCESSES).burst(BURST);
    tokio::spawn(quota.keep(connection));
    let (begun, end) = (Mutex::default(), Instant::now() + RUN);
    let tasks = (0..8).map(async |_| while call(&quota, end, &begun).await.is_ok() {});
    join_all(tasks).await;
    let begun = begun.into_inner().unwrap();
    let begun: Vec<String> = begun.iter().map(u128::to_string).collect();
    println!("answer: {}", begun.join(" "));
}

#[tokio::test(start_paused = true)]
async fn without_redis_each_process_begins_its_part() {
    #[retry(limiter = quota)]
    async fn call(quota: &FleetQuota) -> Result<(), Rejected> {
        Ok(())
    }

    let quota = FleetQuota::new("alone", 240, Duration::from_mins(1), 4);
    tokio::spawn(quota.keep(nobody()));
    let start = Instant::now();
    for _ in 0..30 {
        call(&quota).await.unwrap();
    }
    let seconds = start.elapsed().as_secs();
    assert!((29..=36).contains(&seconds), "{seconds}");
}

/// How long that many attempts take that come at once.
pub(super) async fn at_once(attempts: usize, quota: &FleetQuota) -> Duration {
    #[retry(limiter = quota)]
    async fn call(quota: &FleetQuota) -> Result<(), Rejected> {
        Ok(())
    }

    let start = Instant::now();
    let outcomes = join_all((0..attempts).map(|_| call(quota))).await;
    assert!(outcomes.iter().all(Result::is_ok));
    start.elapsed()
}

/// Ten come to be there between two asks, and none waits for a burst.
#[tokio::test(start_paused = true)]
async fn a_quota_is_leased_as_fast_as_it_comes() {
    let second = Duration::from_secs(1);
    let shared = FleetQuota::new("fast", 1000, second, 1);
    tokio::spawn(shared.keep(Bucket::default().connection()));
    let alone = FleetQuota::new("fast alone", 4000, second, 4);
    tokio::spawn(alone.keep(nobody()));
    for quota in [shared, alone] {
        let took = at_once(1000, &quota).await.as_millis();
        assert!((970..1100).contains(&took), "{took} ms: {quota:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_too_long_is_rejected() {
    #[retry(limiter = quota)]
    async fn call(quota: &FleetQuota) -> Result<(), Rejected> {
        Ok(())
    }

    // Nobody keeps it.
    let quota = FleetQuota::new("unkept", 1, Duration::from_secs(1), 1);
    let quota = quota.max_wait(Duration::from_secs(3)).burst(5);
    let start = Instant::now();
    let rejected = call(&quota).await.unwrap_err();
    assert_eq!(rejected.by(), RejectedBy::Limiter);
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert_eq!(quota.waiting(), 0);
}

#[tokio::test]
async fn it_is_kept_until_the_last_clone_is_dropped() {
    let quota = FleetQuota::new("dropped", 1, Duration::from_secs(1), 1);
    let kept = tokio::spawn(quota.keep(nobody()));
    sleep(Duration::from_millis(20)).await;
    assert!(!kept.is_finished());
    drop(quota);
    kept.await.unwrap();
}
