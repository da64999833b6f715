use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::future::join_all;
use futures_util::poll;
use redis::RedisResult;
use retry_clients::redis::FleetQuota;
use support::prelude::*;

use crate::redis::fleets::bucket::{Bucket, nobody};
use crate::redis::fleets::{InProcess, PROCESSES, RUN, member};

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
    let Some((key, client)) = member() else {
        return;
    };
    let quota = FleetQuota::new(&key, AMOUNT, PERIOD, PROCESSES).burst(BURST);
    tokio::spawn(quota.keep(client));
    let (begun, end) = (Mutex::default(), Instant::now() + RUN);
    let tasks = (0..8).map(async |_| while call(&quota, end, &begun).await.is_ok() {});
    join_all(tasks).await;
    let begun = begun.into_inner().unwrap();
    let begun: Vec<String> = begun.iter().map(u128::to_string).collect();
    println!("answer: {}", begun.join(" "));
}

/// One attempt.
#[retry(limiter = quota)]
async fn wait(quota: &FleetQuota) -> Result<(), Rejected> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_redis_each_process_uses_its_part() {
    let quota = FleetQuota::new("alone", 240, Duration::from_mins(1), 4);
    tokio::spawn(quota.keep_with(nobody()));
    let start = Instant::now();
    for _ in 0..30 {
        wait(&quota).await.unwrap();
    }
    let seconds = start.elapsed().as_secs();
    assert!((29..=36).contains(&seconds), "{seconds}");
}

/// Returns the time for a number of simultaneous attempts.
pub(super) async fn at_once(attempts: usize, quota: &FleetQuota) -> Duration {
    let start = Instant::now();
    let outcomes = join_all((0..attempts).map(|_| wait(quota))).await;
    assert!(outcomes.iter().all(Result::is_ok));
    start.elapsed()
}

/// One attempt that waits no longer than that.
pub(super) async fn within(
    deadline: Duration,
    cost: u32,
    quota: &FleetQuota,
) -> Result<(), Rejected> {
    #[retry(limiter = quota.cost(cost), deadline = deadline)]
    async fn call(deadline: Duration, cost: u32, quota: &FleetQuota) -> Result<(), Rejected> {
        Ok(())
    }

    call(deadline, cost, quota).await
}

/// Ten tokens accumulate between two requests, and no attempt waits for a burst.
#[tokio::test(start_paused = true)]
async fn a_quota_is_leased_as_fast_as_it_accumulates() {
    let second = Duration::from_secs(1);
    let shared = FleetQuota::new("fast", 1000, second, 1);
    tokio::spawn(shared.keep_with(Bucket::default().connect()));
    let alone = FleetQuota::new("fast alone", 4000, second, 4);
    tokio::spawn(alone.keep_with(nobody()));
    for quota in [shared, alone] {
        let took = at_once(1000, &quota).await.as_millis();
        assert!((970..1100).contains(&took), "{took} ms: {quota:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_waits_too_long_is_rejected() {
    // Its `keep` doesn't run.
    let quota = FleetQuota::new("unkept", 1, Duration::from_secs(1), 1);
    let quota = quota.max_wait(Duration::from_secs(3)).burst(5);
    let start = Instant::now();
    let rejected = wait(&quota).await.unwrap_err();
    assert_eq!(rejected.by(), RejectedBy::Limiter);
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert_eq!(quota.waiting(), 0);
}

#[tokio::test]
async fn keep_runs_until_the_last_clone_is_dropped() {
    let quota = FleetQuota::new("dropped", 1, Duration::from_secs(1), 1);
    let kept = tokio::spawn(quota.keep_with(nobody()));
    sleep(Duration::from_millis(20)).await;
    assert!(!kept.is_finished());
    drop(quota);
    kept.await.unwrap();
}

/// Returns the maximum number of starts in a window of this length. The moments must be sorted.
fn most_within(window: Duration, begun: &[Instant]) -> usize {
    let count = |(first, start): (usize, &Instant)| {
        begun[first..].partition_point(|begun| *begun < *start + window)
    };
    begun.iter().enumerate().map(count).max().unwrap_or(0)
}

#[retry(max = 1, limiter = quota.cost(cost), deadline = within, on = |_| refused())]
async fn begin(
    quota: &FleetQuota,
    cost: u32,
    within: Duration,
    begun: &Mutex<Vec<Instant>>,
    is_refused: bool,
) -> Result<(), Failed> {
    begun.lock().unwrap().push(Instant::now());
    if is_refused { Err(Failed) } else { Ok(()) }
}

#[derive(Debug)]
struct Failed;

impl From<Rejected> for Failed {
    fn from(_: Rejected) -> Self {
        Self
    }
}

fn refused() -> Verdict {
    Verdict::THROTTLED.after(Duration::from_secs(30))
}

/// Attempts that wait during a pause get no tokens, which they would otherwise spend in addition after it.
#[tokio::test(start_paused = true)]
async fn no_tokens_are_hoarded_during_a_servers_pause() {
    let (bucket, begun) = (Bucket::default(), Mutex::default());
    let quota = FleetQuota::new("paused", 600, Duration::from_mins(1), 1).burst(10);
    tokio::spawn(quota.keep_with(bucket.connect()));
    let hour = Duration::from_hours(1);
    begin(&quota, 1, hour, &begun, true).await.unwrap_err();
    let asked = async {
        sleep(Duration::from_secs(1)).await;
        let before = bucket.asked();
        sleep(Duration::from_secs(28)).await;
        assert_eq!(bucket.asked(), before);
    };
    let calls = join_all((0..300).map(|_| begin(&quota, 1, hour, &begun, false)));
    let (outcomes, ()) = tokio::join!(calls, asked);
    assert!(outcomes.iter().all(Result::is_ok));
    let most = most_within(Duration::from_secs(10), &begun.into_inner().unwrap());
    assert!(most <= 110, "{most}");
}

/// A large attempt that ends at its deadline doesn't leave its tokens to those behind it, either.
#[tokio::test(start_paused = true)]
async fn a_large_cost_is_leased_as_a_whole() {
    let second = Duration::from_secs(1);
    for is_answered in [true, false] {
        let begun = Mutex::default();
        let quota = FleetQuota::new("large", 100, second, 1);
        if is_answered {
            tokio::spawn(quota.keep_with(Bucket::default().connect()));
        } else {
            tokio::spawn(quota.keep_with(nobody()));
        }
        sleep(Duration::from_millis(1)).await;
        let start = Instant::now();
        let large = Mutex::default();
        let first = begin(&quota, 100, Duration::from_millis(900), &large, false);
        let hour = Duration::from_hours(1);
        let behind = join_all((0..90).map(|_| begin(&quota, 1, hour, &begun, false)));
        let (first, behind) = tokio::join!(first, behind);
        assert_eq!(first.is_ok(), is_answered);
        assert!(behind.iter().all(Result::is_ok));
        let begun = begun.into_inner().unwrap();
        let most = most_within(Duration::from_millis(50), &begun);
        assert!(most <= 5 + 2, "{is_answered}: {most}");
        // The large attempt's cost is paid before those behind it start.
        let after = (begun[0] - start).as_millis();
        assert!((895..1150).contains(&after), "{is_answered}: {after} ms");
    }
}

/// As by a supervisor: it is the same process, with the same spent tokens.
#[tokio::test(start_paused = true)]
async fn a_respawned_keep_continues_where_the_last_ended() {
    let (bucket, begun) = (Bucket::default(), Mutex::default());
    let second = Duration::from_secs(1);
    let quota = FleetQuota::new("again", 100, second, 1).burst(10);
    for _ in 0..3 {
        let kept = [(); 2].map(|()| tokio::spawn(quota.keep_with(bucket.connect())));
        let calls = (0..40).map(|_| begin(&quota, 1, second, &begun, false));
        assert!(join_all(calls).await.iter().all(Result::is_ok));
        for kept in kept {
            kept.abort();
            kept.await.unwrap_err();
        }
    }
    assert_eq!(bucket.processes(), 1);
    let most = most_within(second, &begun.into_inner().unwrap());
    assert!((95..=110).contains(&most), "{most}");
}

/// Redis never got it, and the token is still there.
#[tokio::test(start_paused = true)]
async fn unused_tokens_are_returned_once_after_any_number_of_aborts() {
    let bucket = Bucket::default();
    let moment = Duration::from_millis(1);
    let quota = FleetQuota::new("aborted", 1, Duration::from_mins(1), 1);
    let mut waiting = pin!(at_once(1, &quota));
    assert!(poll!(&mut waiting).is_pending());
    let kept = tokio::spawn(quota.keep_with(bucket.connect()));
    sleep(moment).await;
    kept.abort();
    for _ in 0..3 {
        let stalled = tokio::spawn(quota.keep_with(pending::<RedisResult<InProcess>>));
        sleep(moment).await;
        stalled.abort();
    }
    tokio::spawn(quota.keep_with(bucket.connect()));
    sleep(moment).await;
    assert_eq!(bucket.asked(), [1.0, 1.0]);
    assert_eq!(bucket.earned().to_string(), "1");
}

/// Tokens that it could not use meanwhile are not added to those that the bucket accumulated.
#[tokio::test(start_paused = true)]
async fn a_busy_process_starts_at_most_a_burst_afterwards() {
    for burst in [1, 10] {
        let (bucket, begun) = (Bucket::default(), Mutex::default());
        let quota = FleetQuota::new("busy", 600, Duration::from_mins(1), 1).burst(burst);
        tokio::spawn(quota.keep_with(bucket.connect()));
        let hour = Duration::from_hours(1);
        {
            let calls = (0..200).map(|_| begin(&quota, 1, hour, &begun, false));
            let mut calls = pin!(join_all(calls));
            assert!(poll!(&mut calls).is_pending());
            sleep(Duration::from_secs(6)).await;
            calls.await;
        }
        let begun = begun.into_inner().unwrap();
        for seconds in [1, 5, 15] {
            let most = most_within(Duration::from_secs(seconds), &begun);
            let allowed = 10 * seconds + u64::from(burst) + 1;
            assert!(u64::try_from(most).unwrap() <= allowed, "{most} of {allowed}");
        }
    }
}

/// The others can't detect it, and use the whole quota.
#[tokio::test(start_paused = true)]
async fn a_process_that_is_cut_off_adds_its_part() {
    let (bucket, begun) = (Bucket::default(), Mutex::default());
    let second = Duration::from_secs(1);
    let member = |_| FleetQuota::new("cut", 100, second, 4).burst(10);
    let members: Vec<FleetQuota> = (0..4).map(member).collect();
    for quota in &members[1..] {
        tokio::spawn(quota.keep_with(bucket.connect()));
    }
    tokio::spawn(members[0].keep_with(nobody()));
    let calls = members
        .iter()
        .flat_map(|quota| (0..400).map(|_| begin(quota, 1, Duration::from_secs(5), &begun, false)));
    join_all(calls).await;
    let begun = begun.into_inner().unwrap();
    let most = most_within(second, &begun);
    assert!((115..=125 + 10).contains(&most), "{most}");
}

/// However many they are, they have no more than one burst between them.
#[tokio::test(start_paused = true)]
async fn own_parts_have_no_larger_burst_than_all_together() {
    let begun = Mutex::default();
    let second = Duration::from_secs(1);
    let members: Vec<FleetQuota> =
        (0..50).map(|_| FleetQuota::new("many", 10, second, 50).burst(10)).collect();
    for quota in &members {
        tokio::spawn(quota.keep_with(nobody()));
    }
    // Each has had time to accumulate an unused token.
    for quota in &members {
        let within = Duration::from_millis(1);
        begin(quota, 1, within, &begun, false).await.unwrap_err();
    }
    sleep(Duration::from_mins(1)).await;
    let calls = members.iter().map(|quota| begin(quota, 1, second, &begun, false));
    join_all(calls).await;
    let begun = begun.into_inner().unwrap().len();
    assert!(begun <= 20, "{begun}");
}
