//! Tests for `.ci/databases`.

use std::net::TcpListener;
use std::sync::atomic::Ordering::Relaxed;
use std::vec::IntoIter;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClient;
use redis::{
    AsyncCommands, Client, Cmd, ErrorKind, FromRedisValue, Pipeline, RedisFuture, RedisResult,
    Value, cmd,
};
use retry_clients::redis::{FleetBudget, FleetQuota};
use support::prelude::*;

use crate::databases::setting;
use crate::redis::fleets::{RUN, Server, fleet, quota};

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_fleet_retries_no_more_than_its_share_of_the_calls() {
    for (server, least) in
        [(Server::Runs, 9.0), (Server::Killed, 6.0), (Server::Stopped, 6.0), (Server::Missing, 6.0)]
    {
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
async fn a_fleet_starts_at_most_its_quota_and_a_burst_in_any_window() {
    for (server, least) in
        [(Server::Runs, 0.8), (Server::Killed, 0.4), (Server::Stopped, 0.4), (Server::Missing, 0.6)]
    {
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
        println!("{server:?}: {} begun, {most} in a window, {part:.2} of the quota", begun.len());
        // A process that is not scheduled starts its granted attempts late.
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

    let budget = FleetBudget::ratio("a tenth", 0.0);
    tokio::spawn(budget.keep(client.clone()));
    for left in [100, 90] {
        leases(&budget, 9).await;
        sleep(Duration::from_millis(50)).await;
        let lease = budget.available();
        assert!((9..=10).contains(&lease), "{lease}");
        let tokens: u64 = left_of("a tenth").await;
        assert_eq!(tokens + lease, left);
        let paid = (0..60).filter(|_| budget.withdraw(Kind::Transient));
        assert_eq!(u64::try_from(paid.count()).unwrap(), lease);
    }

    let quota = FleetQuota::new("fast", 1000, Duration::from_secs(1), 1);
    tokio::spawn(quota.keep(client));
    let took = quota::at_once(1000, &quota).await.as_millis();
    assert!((900..5000).contains(&took), "{took} ms");
}

async fn connection() -> MultiplexedConnection {
    let client = Client::open(setting("DATABASES_REDIS")).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

/// Waits until this process has this number of tokens.
pub(super) async fn leases(budget: &FleetBudget, tokens: u64) {
    let leased = async {
        while budget.available() < tokens {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let leased = timeout(Duration::from_secs(10), leased).await;
    leased.unwrap_or_else(|_| panic!("{budget:?}"));
}

/// Returns the number of tokens of a budget on the server.
async fn left_of<T: FromRedisValue>(budget: &str) -> T {
    let key = format!("{{retry:budget:{budget}}}");
    connection().await.hget(key, "tokens").await.unwrap()
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_program_that_ends_gives_back_its_lease() {
    let worker = "redis::fleets::budget::member_that_ends";
    let leased = fleet(worker, "ends", Server::Runs).await;
    assert!(leased.iter().all(|leased| leased != "0"), "{leased:?}");
    let tokens: f64 = left_of("ends").await;
    assert!((tokens - 100.0).abs() < 0.1, "{tokens}");
    // It doesn't leave its own data for longer than a minute, either.
    let mut connection = connection().await;
    let processes: Vec<String> = connection.keys("{retry:budget:ends}:*").await.unwrap();
    assert_eq!(processes.len(), leased.len());
    for process in processes {
        let left: u64 = connection.ttl(process).await.unwrap();
        assert!(left <= 60, "{left}");
    }
}

/// A process of a quota of ten tokens a second, as the script sees it.
struct Process {
    key: &'static str,
    name: usize,
    burst: u32,
    alone: u32,
    /// The tokens spent without Redis as of the last reply.
    reported: u32,
    granted: u32,
    asks: u32,
    is_known: bool,
}

impl Process {
    fn new(key: &'static str, name: usize, burst: u32) -> Self {
        Self { key, name, burst, alone: 0, reported: 0, granted: 0, asks: 0, is_known: false }
    }

    /// Requests tokens. Returns the number granted.
    async fn ask(&mut self, connection: &mut MultiplexedConnection, wanted: u32) -> u32 {
        let granted = self.ask_in_vain(connection, wanted).await;
        let new = granted - self.granted;
        (self.granted, self.reported, self.is_known) = (granted, self.alone, true);
        new
    }

    /// Three seconds later the bucket is full, and it takes that.
    async fn finds_it_full(&mut self, connection: &mut MultiplexedConnection) {
        age(connection, self.key, 3.0).await;
        assert_eq!(self.ask(connection, 20).await, 10);
    }

    /// Makes a request whose reply is lost. Returns the total number granted.
    async fn ask_in_vain(&mut self, connection: &mut MultiplexedConnection, wanted: u32) -> u32 {
        self.asks += 1;
        let numbers = [
            self.burst,
            10,
            0,
            self.alone,
            self.granted + wanted,
            self.granted,
            0,
            self.asks,
            0,
            self.reported,
            u32::from(self.is_known),
            0,
        ];
        let numbers = numbers.map(|number| number.to_string()).join(" ");
        let mut script = cmd("EVAL");
        script
            .arg(include_str!("../../../../retry-clients/src/redis/lease.lua"))
            .arg(2)
            .arg(self.key)
            .arg(format!("{}:{}", self.key, self.name))
            .arg(numbers);
        script.query_async(connection).await.unwrap()
    }
}

/// Sets the time of a bucket's last request back by this number of seconds.
async fn age(connection: &mut MultiplexedConnection, key: &str, seconds: f64) {
    let mut older = cmd("HINCRBYFLOAT");
    older.arg(key).arg("at").arg(-seconds);
    older.query_async::<f64>(connection).await.unwrap();
}

/// The tokens that each process spent are covered by the time without requests.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_fleet_waits_two_seconds_after_an_outage() {
    let mut connection = connection().await;
    for (key, burst) in [("outage 10", 10), ("outage 100", 100), ("outage 600", 600)] {
        let mut processes: Vec<_> = (0..4).map(|name| Process::new(key, name, burst)).collect();
        assert_eq!(processes[0].ask(&mut connection, burst).await, burst);
        for process in &mut processes {
            process.ask(&mut connection, 0).await;
        }
        age(&mut connection, key, 60.0).await;
        for process in &mut processes {
            process.alone += 150;
            assert_eq!(process.ask(&mut connection, 30).await, 0);
        }
        // The others may still spend their parts.
        age(&mut connection, key, 1.0).await;
        assert_eq!(processes[0].ask(&mut connection, 30).await, 0);
        age(&mut connection, key, 1.0).await;
        let granted = processes[0].ask(&mut connection, 1000).await;
        assert!((1..=21).contains(&granted), "{granted} of {burst}");
        // If only one process was cut off, the bucket's debt is at most two seconds of the quota.
        processes[1].alone += 10_000;
        processes[1].ask(&mut connection, 0).await;
        age(&mut connection, key, 3.0).await;
        let granted = processes[2].ask(&mut connection, 1000).await;
        assert!((9..=31.min(burst)).contains(&granted), "{granted}");
    }
}

/// Otherwise the process would use the tokens much later, in addition to those that accumulated meanwhile.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn tokens_granted_by_lost_replies_go_back() {
    let (mut connection, key) = (connection().await, "lost grants");
    let mut unheard = Process::new(key, 0, 10);
    for _ in 0..20 {
        unheard.ask_in_vain(&mut connection, 200).await;
        age(&mut connection, key, 1.0).await;
    }
    let mut granted = unheard.ask(&mut connection, 200).await;
    granted += Process::new(key, 1, 10).ask(&mut connection, 200).await;
    assert!((10..=12).contains(&granted), "{granted}");
}

/// Clients of clusters repeat a script if a node disappears, or if a suspended node resumes.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_script_that_runs_again_changes_nothing() {
    let (mut connection, key) = (connection().await, "sent again");
    let mut process = Process::new(key, 0, 10);
    assert_eq!(process.ask(&mut connection, 4).await, 4);
    assert_eq!(process.ask(&mut connection, 4).await, 4);
    for asks in 0..2 {
        let mut older = Process::new(key, 0, 10);
        older.asks = asks;
        assert_eq!(older.ask_in_vain(&mut connection, 4).await, 8);
    }
    let left = Process::new(key, 1, 10).ask(&mut connection, 10).await;
    assert!((2..=3).contains(&left), "{left}");
}

/// Redis may evict it, or somebody deletes it: alone, or with the data of a process that had nothing to report until
/// now.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_lost_bucket_starts_empty() {
    let mut connection = connection().await;
    for (key, first, lost) in [("evicted", 10, 1), ("flushed", 0, 2)] {
        let mut process = Process::new(key, 0, 10);
        assert_eq!(process.ask(&mut connection, first).await, first);
        for key in [key.to_owned(), format!("{key}:0")].into_iter().take(lost) {
            connection.del::<_, ()>(key).await.unwrap();
        }
        assert_eq!(process.ask(&mut connection, 10).await, 0, "{key}");
        process.finds_it_full(&mut connection).await;
    }
}

/// As after a crash with periodic saves, or a failover to a replica that lags behind.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_server_with_older_data_stops_a_fleet_for_two_seconds() {
    let (mut connection, key) = (connection().await, "older data");
    let mut process = Process::new(key, 0, 10);
    let keys = [key.to_owned(), format!("{key}:0")];
    assert_eq!(process.ask(&mut connection, 10).await, 10);
    let mut saved: Vec<Vec<(String, String)>> = Vec::new();
    for key in &keys {
        saved.push(connection.hgetall(key).await.unwrap());
    }
    for _ in 0..20 {
        age(&mut connection, key, 1.0).await;
        assert_eq!(process.ask(&mut connection, 10).await, 10);
    }
    for (key, saved) in keys.iter().zip(&saved) {
        connection.hset_multiple::<_, _, _, ()>(key, saved).await.unwrap();
    }
    age(&mut connection, key, 20.0).await;
    assert_eq!(process.ask(&mut connection, 10).await, 0);
    process.finds_it_full(&mut connection).await;
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_debt_is_kept_until_it_is_paid() {
    let client = Client::open(setting("DATABASES_REDIS")).unwrap();
    let day = Duration::from_hours(24);
    let quota = FleetQuota::new("debt", 10, 10 * day, 1);
    tokio::spawn(quota.keep(client));
    let within = Duration::from_secs(1);
    quota::within(within, 10, &quota).await.unwrap();
    let left: u64 = connection().await.ttl("{retry:quota:debt}").await.unwrap();
    assert!(left > 9 * day.as_secs(), "{left}");
}

/// Its replies arrive too late, so it uses its own part. For the others, that is not an outage.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_process_with_late_replies_does_not_hold_up_others() {
    let (mut connection, key) = (connection().await, "late");
    let mut quick = Process::new(key, 0, 10);
    let mut late = Process::new(key, 1, 10);
    assert_eq!(quick.ask(&mut connection, 10).await, 10);
    for _ in 0..10 {
        age(&mut connection, key, 0.3).await;
        late.alone += 1;
        late.ask_in_vain(&mut connection, 0).await;
        assert!((1..=4).contains(&quick.ask(&mut connection, 4).await));
    }
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_process_without_replies_pays_for_its_own_part() {
    let (mut connection, key) = (connection().await, "cut off at first");
    let mut process = Process::new(key, 0, 10);
    assert_eq!(process.ask(&mut connection, 1).await, 1);
    let mut late = Process::new(key, 1, 10);
    late.alone = 500;
    assert_eq!(late.ask(&mut connection, 10).await, 0);
    age(&mut connection, key, 2.0).await;
    assert_eq!(process.ask(&mut connection, 10).await, 0);
    age(&mut connection, key, 1.0).await;
    assert_eq!(process.ask(&mut connection, 20).await, 10);
}

/// The length of the outage is lost, too, and counts as payment.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_server_that_lost_its_data_gets_the_totals_at_no_cost() {
    let (mut connection, key) = (connection().await, "lost data");
    let mut processes: Vec<_> = (0..4).map(|name| Process::new(key, name, 10)).collect();
    for process in &mut processes {
        (process.reported, process.alone) = (500, 600);
        assert_eq!(process.ask(&mut connection, 10).await, 0);
    }
    processes[0].finds_it_full(&mut connection).await;
    // A process that had nothing to report until now has no debt.
    let mut idle = Process::new(key, 4, 10);
    (idle.reported, idle.alone) = (500, 500);
    age(&mut connection, key, 1.0).await;
    assert_eq!(idle.ask(&mut connection, 20).await, 10);
}

/// Both use the same name, next to a user's own key with this name.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_budget_a_quota_and_a_users_own_key_share_a_name() {
    let client = Client::open(setting("DATABASES_REDIS")).unwrap();
    let mut connection = connection().await;
    let _: () = connection.set("{payments}", "mine").await.unwrap();
    let budget = FleetBudget::ratio("payments", 0.0);
    let quota = FleetQuota::new("payments", 100, Duration::from_secs(1), 1).burst(50);
    tokio::spawn(budget.keep(client.clone()));
    tokio::spawn(quota.keep(client));
    quota::at_once(50, &quota).await;
    leases(&budget, 10).await;
    let tokens: f64 = left_of("payments").await;
    assert!((tokens - 90.0).abs() < 0.1, "{tokens}");
}

/// Each of twenty processes gets tokens, and so do twenty more after the first ones were restarted.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn each_of_many_processes_can_retry() {
    let client = Client::open(setting("DATABASES_REDIS")).unwrap();
    let mut kept = Vec::new();
    for _ in 0..2 {
        let budgets: Vec<_> = (0..20).map(|_| FleetBudget::ratio("many", 0.0)).collect();
        for budget in &budgets {
            let task = tokio::spawn(budget.keep(client.clone()));
            leases(budget, 1).await;
            kept.push(task);
        }
        drop(budgets);
        for task in kept.drain(..) {
            task.await.unwrap();
        }
    }
    // Processes that ended returned their remaining tokens.
    let tokens: f64 = left_of("many").await;
    assert!((tokens - 100.0).abs() < 0.1, "{tokens}");
}

/// A connection whose replies are late by the listed times, and then on time.
struct Slow(MultiplexedConnection, Arc<Mutex<IntoIter<Duration>>>);

const LOST: Duration = Duration::from_hours(1);

impl ConnectionLike for Slow {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async {
            let answer = self.0.req_packed_command(command).await;
            let late = self.1.lock().unwrap().next();
            sleep(late.unwrap_or_default()).await;
            answer
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        self.0.req_packed_commands(pipeline, offset, count)
    }

    fn get_db(&self) -> i64 {
        0
    }
}

type Connecting = Pin<Box<dyn Future<Output = RedisResult<Slow>> + Send>>;

/// Makes such connections, which share the list.
fn slowly(late: impl Into<Vec<Duration>>) -> impl FnMut() -> Connecting + Send + 'static {
    let late = Arc::new(Mutex::new(late.into().into_iter()));
    move || {
        let late = Arc::clone(&late);
        Box::pin(async move { Ok(Slow(connection().await, late)) })
    }
}

/// The script ran, but its reply was lost.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn tokens_granted_by_a_lost_reply_count_once() {
    let budget = FleetBudget::ratio("lost", 0.0);
    tokio::spawn(budget.keep_with(slowly([LOST, LOST])));
    leases(&budget, 1).await;
    let tokens: u64 = left_of("lost").await;
    assert_eq!((budget.available(), tokens), (10, 90));
}

/// By the time the reply is lost, the attempt is gone, and no other attempt needs tokens.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_large_cost_with_a_lost_reply_does_not_stop_others() {
    let client = Client::open(setting("DATABASES_REDIS")).unwrap();
    let member = || FleetQuota::new("large and lost", 10, Duration::from_secs(1), 2);
    let (first, second) = (member(), member());
    tokio::spawn(first.keep_with(slowly([Duration::ZERO, LOST])));
    sleep(Duration::from_millis(100)).await;
    quota::within(Duration::from_millis(100), 100, &first).await.unwrap_err();
    sleep(Duration::from_secs(2)).await;
    tokio::spawn(second.keep(client));
    quota::within(Duration::from_millis(200), 1, &second).await.unwrap();
}

/// The reply is in flight when the last clone is dropped.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn tokens_granted_after_the_last_drop_go_back() {
    let late = Duration::from_millis(100);
    let budget = FleetBudget::ratio("left", 0.0);
    let kept = tokio::spawn(budget.keep_with(slowly([late])));
    sleep(late / 2).await;
    drop(budget);
    kept.await.unwrap();
    let tokens: f64 = left_of("left").await;
    assert!((tokens - 100.0).abs() < 0.1, "{tokens}");

    let member = || FleetQuota::new("left", 10, Duration::from_secs(1), 2);
    let (first, second) = (member(), member());
    let kept = tokio::spawn(first.keep_with(slowly([Duration::ZERO, late])));
    sleep(late).await;
    quota::within(late / 2, 100, &first).await.unwrap_err();
    drop(first);
    kept.await.unwrap();
    tokio::spawn(second.keep_with(slowly([])));
    quota::within(2 * late, 1, &second).await.unwrap();
}

/// Without an earlier reply.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_dropped_quota_reports_tokens_spent_without_redis() {
    let quota = FleetQuota::new("last words", 10, Duration::from_secs(1), 1);
    let (is_up, mut connect) = (Arc::new(AtomicBool::new(false)), slowly([]));
    let is_up_now = Arc::clone(&is_up);
    let kept = tokio::spawn(quota.keep_with(move || {
        let connection = is_up_now.load(Relaxed).then(&mut connect);
        async {
            match connection {
                Some(connection) => connection.await,
                None => Err((ErrorKind::Io, "refused").into()),
            }
        }
    }));
    quota::within(Duration::from_secs(1), 1, &quota).await.unwrap();
    is_up.store(true, Relaxed);
    drop(quota);
    kept.await.unwrap();
    let mut connection = connection().await;
    let processes: Vec<String> = connection.keys("{retry:quota:last words}:*").await.unwrap();
    assert_eq!(processes.len(), 1);
    let alone: u32 = connection.hget(&processes[0], "alone").await.unwrap();
    assert_eq!(alone, 1);
}

/// With any key, the keys of the bucket and of the process are on one node.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_cluster_keeps_what_any_key_names() {
    let nodes = setting("DATABASES_REDIS_NODES");
    let cluster = ClusterClient::new(nodes.split(' ')).unwrap();
    for key in ["", "}x", "{", "{}", "a}b", "payments"] {
        let budget = FleetBudget::ratio(key, 0.0);
        let cluster = cluster.clone();
        tokio::spawn(budget.keep_with(move || {
            let cluster = cluster.clone();
            async move { cluster.get_async_connection().await }
        }));
        leases(&budget, 1).await;
    }
}

/// As in the documentation of `keep_with`.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_cluster_works_with_an_unresponsive_node() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("redis://{}", listener.local_addr().unwrap());
    let nodes = setting("DATABASES_REDIS_NODES");
    let cluster = ClusterClient::builder(nodes.split(' ').chain([&*silent]))
        .connection_timeout(Duration::from_millis(300))
        .build()
        .unwrap();
    let budget = FleetBudget::ratio("a silent node", 0.0);
    tokio::spawn(budget.keep_with(move || {
        let cluster = cluster.clone();
        async move { cluster.get_async_connection().await }
    }));
    leases(&budget, 1).await;
}
