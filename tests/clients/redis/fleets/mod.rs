//! Budgets and quotas that processes share: several processes of this program, and a server that is killed and stopped.

mod bucket;
mod budget;
mod database;
mod quota;

use std::env;
use std::process::{Child, Command, Stdio};

use redis::aio::ConnectionLike;
use redis::{Client, Cmd, ErrorKind, Pipeline, RedisFuture, RedisResult, Value};
use support::prelude::*;

use crate::databases::{control_concurrently, setting};

/// The state of the server while the processes run.
#[derive(Clone, Copy, Debug)]
enum Server {
    Runs,
    Killed,
    Stopped,
    /// There is none, all the time.
    Missing,
}

const PROCESSES: u32 = 4;
/// The run time of the processes, and the times at which the server stops and restarts.
const RUN: Duration = Duration::from_secs(6);
const GONE: Duration = Duration::from_secs(1);
const BACK: Duration = Duration::from_millis(2300);

/// Starts this program again, as processes that run only the test `worker`. Returns the text that each printed after
/// `answer: `.
async fn fleet(worker: &str, key: &str, server: Server) -> Vec<String> {
    if let Server::Missing = server {
        control_concurrently(&["redis", "kill"]).await;
    }
    let start = |_| -> Child {
        Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", worker])
            .env("FLEET_KEY", key)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let processes: Vec<Child> = (0..PROCESSES).map(start).collect();
    sleep(GONE).await;
    match server {
        Server::Runs => {}
        Server::Killed => {
            control_concurrently(&["redis", "kill"]).await;
            sleep(BACK).await;
            control_concurrently(&["redis", "start"]).await;
        }
        Server::Stopped => {
            control_concurrently(&["redis", "stop"]).await;
            sleep(BACK).await;
            control_concurrently(&["redis", "continue"]).await;
        }
        Server::Missing => {
            sleep(RUN).await;
            control_concurrently(&["redis", "start"]).await;
        }
    }
    let ends = processes.into_iter().map(Child::wait_with_output);
    let texts = ends.map(|end| String::from_utf8(end.unwrap().stdout).unwrap());
    let answer = |text: String| {
        let (_, answer) = text.split_once("answer: ").expect("an answer");
        answer.lines().next().unwrap().to_owned()
    };
    texts.map(answer).collect()
}

/// Returns the key and the server, in a process of a fleet.
fn member() -> Option<(String, Client)> {
    let key = env::var("FLEET_KEY").ok()?;
    let client = Client::open(setting("DATABASES_REDIS")).unwrap();
    Some((key, client))
}

/// A connection to a server in this process, which replies with the function's result.
struct InProcess(Box<Answer>);

type Answer = dyn Fn(&Cmd) -> RedisResult<Value> + Send;

impl ConnectionLike for InProcess {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(ready((self.0)(command)))
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        _: &'a Pipeline,
        _: usize,
        _: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(ready(Err((ErrorKind::Client, "one command at a time").into())))
    }

    fn get_db(&self) -> i64 {
        0
    }
}
