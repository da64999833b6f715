//! The places in which the key works.

#![allow(async_fn_in_trait)]

use std::future::Future;

use async_trait::async_trait;
use support::prelude::*;

use crate::hedge::{Server, answer, fails, seen};

/// Slow at first.
fn server() -> Server {
    Server::new([answer(900), answer(50)])
}

struct Client {
    server: Server,
    prefix: String,
}

fn client() -> Client {
    let (server, prefix) = (server(), String::from("client"));
    Client { server, prefix }
}

/// The second request was made in time, and was answered.
fn assert_hedged(server: &Server) {
    assert_eq!(server.seen(), seen(&[0, 200], 1, 250));
}

impl Client {
    #[retry(hedge = "200ms")]
    async fn method(&self, owned: String, borrowed: &str) -> Result<usize, Failure> {
        let number = self.server.ask().await?;
        if number == 1 {
            return Err(STOP);
        }
        let read = (&*owned, borrowed, &*self.prefix);
        assert_eq!(read, ("owned", "borrowed", "client"));
        Ok(number)
    }

    #[retry(hedge = "200ms")]
    fn future(&self) -> impl Future<Output = Result<usize, Failure>> {
        async move { self.server.ask().await }
    }

    #[retry(hedge = "200ms")]
    fn boxed<'a>(
        &'a self,
        borrowed: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<usize, Failure>> + Send + 'a>> {
        Box::pin(async move {
            assert_eq!(borrowed, "borrowed");
            self.server.ask().await
        })
    }
}

#[retry(hedge = "200ms")]
async fn shared<T: AsRef<Server>>(server: Arc<T>) -> Result<usize, Failure> {
    T::as_ref(&server).ask().await
}

impl AsRef<Self> for Server {
    fn as_ref(&self) -> &Self {
        self
    }
}

#[tokio::test(start_paused = true)]
async fn functions_that_borrow() {
    for shape in 0..3 {
        let client = client();
        let number = match shape {
            0 => is_send(client.method(String::from("owned"), "borrowed")).await,
            1 => is_send(client.future()).await,
            _ => client.boxed("borrowed").await,
        };
        assert_eq!(number, Ok(2), "{shape}");
        assert_hedged(&client.server);
    }
    let server = Arc::new(server());
    assert_eq!(is_send(shared(Arc::clone(&server))).await, Ok(2));
    assert_hedged(&server);
}

#[async_trait]
trait Model {
    async fn ask(&self, prompt: String) -> Result<usize, Failure>;
}

#[retry(hedge = "200ms")]
#[async_trait]
impl Model for Client {
    async fn ask(&self, prompt: String) -> Result<usize, Failure> {
        assert_eq!(prompt, "prompt");
        self.server.ask().await
    }
}

#[retry(wrapper = Retrying, hedge = "200ms")]
trait Api {
    async fn ask(&self, prompt: String, system: &str) -> Result<usize, Failure>;
}

impl Api for Client {
    async fn ask(&self, prompt: String, system: &str) -> Result<usize, Failure> {
        assert_eq!((&*prompt, system), ("prompt", "system"));
        self.server.ask().await
    }
}

#[tokio::test(start_paused = true)]
async fn traits_and_decorators() {
    let client_ = client();
    assert_eq!(Model::ask(&client_, String::from("prompt")).await, Ok(2));
    assert_hedged(&client_.server);
    let retrying = Retrying::new(client());
    assert_eq!(retrying.ask(String::from("prompt"), "system").await, Ok(2));
    let policy = Policy::new().max(0);
    let retrying = Retrying::with_policy(client(), policy);
    assert_eq!(retrying.ask(String::from("prompt"), "system").await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn blocks() {
    let (server, prefix) = (server(), String::from("a"));
    let answer = retrying!(hedge = "200ms", attempt = attempt, budget, async {
        assert_eq!(prefix, "a");
        let number = server.ask().await?;
        assert_eq!(attempt.number() as usize, number);
        Ok(number)
    });
    let answer: Result<usize, Failure> = is_send(answer).await;
    assert_eq!(answer, Ok(2));
    assert_eq!(server.seen(), seen(&[0, 200], 1, 250));
}

/// Not `Sync`; the call doesn't keep it during a pause.
#[derive(Debug, PartialEq)]
struct Unshared(Cell<u32>);

impl From<TimedOut> for Unshared {
    fn from(_: TimedOut) -> Self {
        Self(Cell::new(1))
    }
}

#[tokio::test(start_paused = true)]
async fn errors_need_not_be_sync() {
    #[retry(hedge = "200ms", timeout = "1h", on = |_| true, jitter = "none")]
    async fn call(server: &Server) -> Result<usize, Unshared> {
        let asked = server.ask().await;
        asked.map_err(|_| Unshared(Cell::new(0)))
    }

    let server = Server::new([fails(300, TRANSIENT), fails(0, TRANSIENT), answer(0)]);
    assert_eq!(is_send(call(&server)).await, Ok(3));
}

#[test]
fn a_call_takes_little_more_room_than_with_a_timeout() {
    asks!(fn timed(), timeout = "1s");
    asks!(fn hedged(), hedge = "1s");

    let server = Server::new([]);
    let (timed, hedged) = (size_of_val(&timed(&server)), size_of_val(&hedged(&server)));
    assert!(hedged <= timed + 300, "{hedged} and {timed}");
}
