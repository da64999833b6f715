use std::sync::atomic::Ordering::Relaxed;

use retry_clients::redis::FleetBudget;
use support::prelude::*;
use tokio::time::Duration;

use crate::redis::fleets::bucket::{Bucket, nobody};
use crate::redis::fleets::database::leases;
use crate::redis::fleets::{RUN, member};

#[retry(max = 3, backoff = "none", budget = budget, on = |_| true)]
async fn call(budget: &FleetBudget, attempts: &AtomicU32) -> Result<(), String> {
    attempts.fetch_add(1, Relaxed);
    Err(String::from("503"))
}

#[tokio::test]
#[ignore = "a process that the tests start"]
async fn member_of_a_fleet() {
    let Some((key, client)) = member() else {
        return;
    };
    let budget = FleetBudget::ratio(&key, 0.1).capacity(20);
    tokio::spawn(budget.keep(client));
    let attempts = AtomicU32::new(0);
    let (start, mut calls) = (Instant::now(), 0);
    while start.elapsed() < RUN {
        call(&budget, &attempts).await.unwrap_err();
        calls += 1;
        sleep(Duration::from_millis(2)).await;
    }
    println!("answer: {calls} {}", attempts.into_inner() - calls);
}

/// As in the guide.
#[tokio::test]
#[ignore = "a process that the tests start"]
async fn member_that_ends() {
    let Some((key, client)) = member() else {
        return;
    };
    let budget = FleetBudget::ratio(&key, 0.0);
    let kept = tokio::spawn(budget.keep(client));
    leases(&budget, 1).await;
    println!("answer: {}", budget.available());
    drop(budget);
    kept.await.unwrap();
}

#[test]
fn without_redis_each_process_has_its_share() {
    let budget = FleetBudget::ratio("alone", 0.25).capacity(20);
    assert!(!budget.withdraw(Kind::Transient));
    for _ in 0..4 {
        budget.called();
    }
    assert!(budget.withdraw(Kind::Transient));
    assert!(!budget.withdraw(Kind::Transient));
    // The payment for a retry that never started is refunded.
    budget.refund(Kind::Transient);
    assert_eq!(budget.available(), 1);
    assert!(budget.clone().withdraw(Kind::Transient));
    assert_eq!(budget.available(), 0);
    // No more than a lease.
    for _ in 0..100 {
        budget.called();
    }
    assert!(budget.withdraw(Kind::Transient) && budget.withdraw(Kind::Throttled));
    assert!(!budget.withdraw(Kind::Transient));
}

#[test]
fn without_capacity_nothing_is_retried() {
    let budget = FleetBudget::ratio("off", 1.0).capacity(0);
    for _ in 0..100 {
        budget.called();
        assert!(!budget.withdraw(Kind::Transient));
    }
}

/// As by a supervisor. Earlier reports are not repeated, by any number of tasks.
#[tokio::test(start_paused = true)]
async fn a_respawned_keep_continues_where_the_last_ended() {
    let (bucket, budget) = (Bucket::default(), FleetBudget::ratio("again", 0.5));
    let budget = budget.capacity(20);
    let mut spent = 0;
    for _ in 0..3 {
        let kept = [(); 2].map(|()| tokio::spawn(budget.keep_with(bucket.connect())));
        for _ in 0..100 {
            budget.called();
            while budget.withdraw(Kind::Transient) {
                spent += 1;
            }
            sleep(Duration::from_millis(20)).await;
        }
        for kept in kept {
            kept.abort();
            kept.await.unwrap_err();
        }
    }
    assert_eq!(bucket.processes(), 1);
    // Half of all calls, the 20 at first, and what was paid from its share while it was not kept.
    assert!((165..=175).contains(&spent), "{spent}");
}

/// An outage of an hour must not fill a disk.
#[tokio::test(start_paused = true)]
async fn an_outage_is_logged_at_first_and_then_periodically() {
    let recording = testing::record();
    let (bucket, is_up) = (Bucket::default(), Arc::new(AtomicBool::new(false)));
    let budget = FleetBudget::ratio("away", 0.1);
    tokio::spawn(budget.keep_with({
        let (is_up, mut up, mut down) = (Arc::clone(&is_up), bucket.connect(), nobody());
        move || if is_up.load(Relaxed) { up() } else { down() }
    }));
    // The four pauses between them last up to 100, 200, 400 and 500 ms.
    sleep(Duration::from_millis(1_300)).await;
    assert_eq!(recording.lines().len(), 5);
    sleep(Duration::from_mins(1)).await;
    assert!((10..=11).contains(&recording.lines().len()));
    is_up.store(true, Relaxed);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(budget.available(), 10);
    // A process whose replies may be lost requests no tokens.
    assert_eq!(bucket.asked(), [0.0, 10.0]);
    let last = recording.lines().pop().unwrap();
    assert!(last.starts_with("succeeded {retry:budget:away} attempt=1"), "{last}");
}

#[test]
#[should_panic(expected = "`keep` waits with tokio's timer, and there is no tokio runtime here")]
fn outside_a_tokio_runtime_keep_panics_with_the_fix() {
    let kept = FleetBudget::ratio("outside", 0.1).keep_with(nobody());
    let _ = pin!(kept).poll(&mut Context::from_waker(Waker::noop()));
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_a_tenth_after_any_number_of_denied_retries() {
    let (bucket, budget) = (Bucket::default(), FleetBudget::ratio("leased", 0.0));
    tokio::spawn(budget.keep_with(bucket.connect()));
    sleep(Duration::from_millis(20)).await;
    assert_eq!(budget.available(), 10);
    let paid = (0..60).filter(|_| budget.withdraw(Kind::Transient));
    assert_eq!(paid.count(), 10);
    sleep(Duration::from_millis(20)).await;
    assert_eq!(budget.available(), 10);
    assert_eq!(bucket.asked(), [10.0, 10.0]);
}

/// Even with the smallest lease.
#[tokio::test(start_paused = true)]
async fn a_spent_lease_is_renewed_at_once() {
    for capacity in [10, 20, 30] {
        let (bucket, budget) = (Bucket::default(), FleetBudget::ratio("leased", 0.0));
        let budget = budget.capacity(capacity);
        tokio::spawn(budget.keep_with(bucket.connect()));
        sleep(Duration::from_millis(20)).await;
        let lease = budget.available();
        for _ in 0..lease {
            assert!(budget.withdraw(Kind::Transient));
        }
        sleep(Duration::from_millis(20)).await;
        assert_eq!(budget.available(), lease, "{capacity}");
    }
}

/// As if its runtime is dropped, or the connect function panics.
#[tokio::test(start_paused = true)]
async fn a_process_without_keep_has_its_own_share() {
    let (bucket, budget) = (Bucket::default(), FleetBudget::ratio("aborted", 0.1));
    let kept = tokio::spawn(budget.keep_with(bucket.connect()));
    sleep(Duration::from_millis(20)).await;
    kept.abort();
    kept.await.unwrap_err();
    while budget.withdraw(Kind::Transient) {}
    for _ in 0..10 {
        budget.called();
    }
    assert!(budget.withdraw(Kind::Transient));
    assert!(!budget.withdraw(Kind::Transient));
}

#[tokio::test]
async fn keep_runs_until_the_last_clone_is_dropped() {
    let budget = FleetBudget::ratio("dropped", 0.1);
    let kept = tokio::spawn(budget.keep_with(nobody()));
    let second = tokio::spawn(budget.keep_with(nobody()));
    let clone = budget.clone();
    drop(budget);
    sleep(Duration::from_millis(20)).await;
    assert!(!kept.is_finished());
    drop(clone);
    kept.await.unwrap();
    second.await.unwrap();
}
