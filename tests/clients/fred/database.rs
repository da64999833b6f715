use fred::interfaces::ListInterface;
use fred::types::config::Options;
use fred::types::{ClientState, ClusterHash, CustomCommand, InfoKind};

use super::*;
use crate::databases::{self, control, control_concurrently, setting};

/// A client that reconnects by itself, but doesn't send commands again.
async fn connected(patience: Duration) -> Client {
    connected_to(&setting("DATABASES_REDIS"), patience).await
}

async fn connected_to(url: &str, patience: Duration) -> Client {
    let again = ReconnectPolicy::new_constant(0, 5);
    let client = client(url, without_retries, Some(again), patience);
    client.init().await.unwrap();
    client
}

/// Returns a client for each single node of a cluster, and one for the cluster.
async fn cluster() -> ([Client; 2], Client) {
    let urls = setting("DATABASES_REDIS_NODES");
    let (first, second) = urls.split_once(' ').unwrap();
    let cluster = first.replace("redis:", "redis-cluster:");
    let cluster = connected_to(&cluster, Duration::from_secs(10)).await;
    let nodes =
        [connected_to(first, Duration::ZERO).await, connected_to(second, Duration::ZERO).await];
    (nodes, cluster)
}

/// Returns a node's reply to a command.
async fn ask(node: &Client, words: &str) -> String {
    let (name, arguments) = words.split_once(' ').unwrap();
    let command = CustomCommand::new(name, ClusterHash::Random, false);
    let arguments = arguments.split(' ').collect();
    node.custom(command, arguments).await.unwrap()
}

/// Waits until a client waits for an element there.
async fn blocked(node: &Client) {
    let is_blocked = async || {
        let info: String = node.info(Some(InfoKind::Clients)).await.unwrap();
        info.contains("blocked_clients:1")
    };
    while !is_blocked().await {
        sleep(Duration::from_millis(5)).await;
    }
}

/// The error of a call, and how many attempts it made.
async fn attempts_of<T>(call: impl AsyncFn() -> Result<T, Error>) -> (Error, u32) {
    databases::attempts(classify, call).await
}

/// The first attempt waits for an element when the server dies. A later one finds it started again, and with it the
/// element.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_server_killed_in_the_middle_of_a_call_is_survived() {
    #[retry(max = 500, backoff = "fixed", base = "10ms", jitter = "none", on = |error: &Error| {
        verdicts.push(classify(error));
        classify(error)
    })]
    async fn answer(client: &Client, verdicts: &mut Vec<Verdict>) -> Result<i32, Error> {
        if verdicts.is_empty() {
            return client.blpop("no-such-list", 30.0).await;
        }
        client.incr("fred").await
    }

    let client = connected(Duration::ZERO).await;
    let observer = connected(Duration::ZERO).await;
    let restart = async {
        blocked(&observer).await;
        control_concurrently(&["redis", "kill"]).await;
        sleep(Duration::from_millis(100)).await;
        control_concurrently(&["redis", "start"]).await;
    };
    let mut verdicts = Vec::new();
    let (answer, ()) = tokio::join!(answer(&client, &mut verdicts), restart);
    assert_eq!(answer.unwrap(), 1);
    assert_eq!(verdicts[0], BROKEN);
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn no_response_in_time_is_a_timeout() {
    let client = connected(Duration::from_millis(30)).await;
    control(&["redis", "stop"]);
    let (error, count) = attempts_of(async || client.get::<Option<i32>, _>("key").await).await;
    control(&["redis", "continue"]);
    assert_eq!((classify(&error), count), (Verdict::TIMEOUT, 3), "{error}");
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_callers_mistake_stops() {
    let client = connected(Duration::ZERO).await;
    let _: () = client.set("text", "x", None, None, false).await.unwrap();
    let incr = attempts_of(async || client.incr::<i64, _>("text").await).await;
    let lpush = attempts_of(async || client.lpush::<i64, _, _>("text", 1).await).await;
    let get = attempts_of(async || client.get::<i64, _>("text").await).await;
    let wrong = setting("DATABASES_REDIS").replace("redis://", "redis://nobody:wrong@");
    let mut count = 0;
    let denied = connect(&wrong, &mut count).await.err().unwrap();
    for (error, count) in [incr, lpush, get, (denied, count)] {
        assert_eq!((classify(&error), count), (Verdict::STOP, 1), "{error}");
    }
}

/// While a slot moves, the old node rejects commands for a key that it lacks. Then it reports the slot's new node, and
/// gets no more commands.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_slot_that_moved_is_found_by_the_next_attempt() {
    let ([old, new], cluster) = cluster().await;
    let slot = ask(&old, "CLUSTER KEYSLOT bar").await;
    let from = ask(&old, "CLUSTER MYID").await;
    let to = ask(&new, "CLUSTER MYID").await;
    ask(&new, &format!("CLUSTER SETSLOT {slot} IMPORTING {from}")).await;
    ask(&old, &format!("CLUSTER SETSLOT {slot} MIGRATING {to}")).await;
    let count = async || cluster.incr::<i64, _>("bar").await;
    let (error, attempts) = attempts_of(count).await;
    assert_eq!((classify(&error), attempts), (Verdict::TRANSIENT, 3), "{error}");
    for node in [&new, &old] {
        ask(node, &format!("CLUSTER SETSLOT {slot} NODE {to}")).await;
    }
    let policy = Policy::none().max(1).on(classify);
    assert_eq!(policy.call(count).await, Ok(1));
    assert_eq!(count().await, Ok(2));
    let errors = ask(&old, "INFO errorstats").await;
    for redirections in ["errorstat_ASK:count=3", "errorstat_MOVED:count=1"] {
        assert!(errors.contains(redirections), "{errors}");
    }
}

/// The nodes die while the first attempt waits for an element, and the other attempts can't connect.
#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn a_killed_cluster_gets_the_configured_number_of_attempts() {
    let ([node, _], cluster) = cluster().await;
    let at_once = cluster.with_options(&Options { fail_fast: true, ..Options::default() });
    let verdicts = RefCell::new(Vec::new());
    let pop = Policy::none().max(2).on(|error: &Error| {
        verdicts.borrow_mut().push(classify(error));
        classify(error)
    });
    let pop = pop.call(async || {
        // Commands sent before the client reconnects wait for that.
        while !verdicts.borrow().is_empty() && cluster.state() == ClientState::Connected {
            sleep(Duration::from_millis(1)).await;
        }
        at_once.blpop::<(), _>("hello", 30.0).await
    });
    let kill = async {
        blocked(&node).await;
        control_concurrently(&["cluster", "kill"]).await;
    };
    let (popped, ()) = tokio::join!(pop, kill);
    popped.unwrap_err();
    assert_eq!(verdicts.take(), [BROKEN, Verdict::TRANSIENT, Verdict::TRANSIENT]);
    control(&["cluster", "start"]);
    // At first the nodes haven't found each other, and reject clients.
    let policy = Policy::fixed(Duration::from_millis(100)).jitter(Jitter::None);
    let patient = policy.max(100).on(classify);
    let other = patient.call(async || {
        let other = cluster.clone_new();
        other.init().await?;
        other.incr("hello").await
    });
    assert_eq!(other.await, Ok(1));
    let count = patient.call(async || at_once.incr("hello").await);
    assert_eq!(count.await, Ok(2));
}
