use fred::interfaces::ListInterface;
use fred::types::InfoKind;

use super::*;
use crate::databases::{self, control, control_beside, setting};

/// A client that connects again by itself, but sends no command again.
async fn connected(patience: Duration) -> Client {
    let again = ReconnectPolicy::new_constant(0, 5);
    let url = setting("DATABASES_REDIS");
    let client = client(&url, without_retries, Some(again), patience);
    client.init().await.unwrap();
    client
}

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
        let blocked = async || {
            let info: String = observer.info(Some(InfoKind::Clients)).await.unwrap();
            info.contains("blocked_clients:1")
        };
        while !blocked().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        control_beside(&["redis", "kill"]).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        control_beside(&["redis", "start"]).await;
    };
    let mut verdicts = Vec::new();
    let (answer, ()) = tokio::join!(answer(&client, &mut verdicts), restart);
    assert_eq!(answer.unwrap(), 1);
    assert_eq!(verdicts[0], BROKEN);
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn no_answer_in_time_is_a_timeout() {
    let client = connected(Duration::from_millis(30)).await;
    control(&["redis", "stop"]);
    let (error, count) = attempts_of(async || client.get::<Option<i32>, _>("key").await).await;
    control(&["redis", "continue"]);
    assert_eq!((classify(&error), count), (Verdict::TIMEOUT, 3), "{error}");
}

#[tokio::test]
#[ignore = "needs Redis: run by .ci/databases"]
async fn what_the_caller_got_wrong_stops() {
    let client = connected(Duration::ZERO).await;
    let _: () = client.set("text", "x", None, None, false).await.unwrap();
    let (error, count) = attempts_of(async || client.incr::<i64, _>("text").await).await;
    assert_eq!((classify(&error), count), (Verdict::STOP, 1), "{error}");
    let (error, count) = attempts_of(async || client.lpush::<i64, _, _>("text", 1).await).await;
    assert_eq!((classify(&error), count), (Verdict::STOP, 1), "{error}");
    let (error, count) = attempts_of(async || client.get::<i64, _>("text").await).await;
    assert_eq!((classify(&error), count), (Verdict::STOP, 1), "{error}");
    let wrong = setting("DATABASES_REDIS").replace("redis://", "redis://nobody:wrong@");
    let mut count = 0;
    let error = connect(&wrong, &mut count).await.err().unwrap();
    assert_eq!((classify(&error), count), (Verdict::STOP, 1), "{error}");
}
