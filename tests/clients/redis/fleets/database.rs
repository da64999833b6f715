//! What `.ci/databases` runs.

use std::time::Duration;

use redis::{AsyncCommands, Client};
use retry_clients::redis::{FleetBudget, FleetQuota};
use retry_runtime::{Kind, RetryBudget};
use tokio::time::{sleep, timeout};

use crate::databases::setting;
use crate::redis::fleets::{RUN, Server, fleet, quota};

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_fleet_retries_no_more_than_its_share_of_the_calls() {
    for (server, least) in [
        (Server::Runs, 9.0),
        (Server::Killed, 6.0),
        (Server::Stopped, 6.0),
        (Server::Missing, 6.0),
    ] {
        let key = format!("budget {server:?}");
        let answers = fleet("redis::fleets::budget::member_of_a_fleet", &key, server).await;
        let (mut calls, mut retries) = (0.0, 0.0);
        for answer in &answers {
            let (calls_of_one, retries_of_one) = answer.split_once(' ').unwrap();
            calls += calls_of_one.parse::<f64>().unwrap();
            retries += retries_of_one.parse::<f64>().unwrap();
        }
        let percent = 100.0 * retries / calls;
        println!("{server:?}: {retries} retries of {calls} calls, {percent:.1} %: {answers:?}");
        assert!(percent <= 11.0 && percent >= least, "{percent}");
        assert!(calls > 1000.0, "{calls}");
    }
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_fleet_begins_no_more_than_its_quota_and_a_burst_in_any_window() {
    for (server, least) in [
        (Server::Runs, 0.8),
        (Server::Killed, 0.4),
        (Server::Stopped, 0.4),
        (Server::Missing, 0.6),
    ] {
        let key = format!("quota {server:?}");
        let answers = fleet("redis::fleets::quota::member_of_a_fleet", &key, server).await;
        let begun = answers.iter().flat_map(|answer| answer.split_whitespace());
        let mut begun: Vec<u64> = begun.map(|micros| micros.parse().unwrap()).collect();
        begun.sort_unstable();
        let window = u64::try_from(quota::PERIOD.as_micros()).unwrap();
        let most = (0..begun.len()).map(|from| {
            let end = begun[from] + window;
            begun[from..].partition_point(|begun| *begun < end)
        });
        let count = |begun: usize| f64::from(u32::try_from(begun).unwrap());
        let most = count(most.max().unwrap());
        let rate = f64::from(quota::AMOUNT) / quota::PERIOD.as_secs_f64();
        let part = count(begun.len()) / (rate * RUN.as_secs_f64());
        println!(
            "{server:?}: {} begun, {most} in a window, {part:.2} of the quota",
            begun.len()
        );
        // A process that is not scheduled begins late what it was granted.
        let late = rate * Duration::from_millis(100).as_secs_f64();
        let allowed = f64::from(quota::AMOUNT + quota::BURST) + late;
        assert!(most <= allowed, "{most} of {allowed}");
        assert!(part >= least, "{part}");
    }
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_process_leases_a_tenth_and_a_quota_as_fast_as_it_comes() {
    let client = Client::open(setting("DATABASES_REDIS")).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();

    let budget = FleetBudget::ratio("a tenth", 0.0);
    tokio::spawn(budget.keep(connection.clone()));
    for left in ["90", "80"] {
        let leased = async {
            while budget.available() < 10 {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(10), leased).await.unwrap();
        assert_eq!(budget.available(), 10);
        let tokens: String = connection.hget("{a tenth}", "tokens").await.unwrap();
        assert_eq!(tokens, left);
        let paid = (0..60).filter(|_| budget.withdraw(Kind::Transient));
        assert_eq!(paid.count(), 10);
    }

    let quota = FleetQuota::new("fast", 1000, Duration::from_secs(1), 1);
    tokio::spawn(quota.keep(connection));
    let took = quota::at_once(1000, &quota).await.as_millis();
    assert!((900..5000).contains(&took), "{took} ms");
}
