//! Tests clients with llmock, a server that fails as configured and then rates its client.
//!
//! `.ci/clients` installs and starts it, runs each of these tests with the address in `LLMOCK_URL`, and checks the
//! requests with `llmock report`.

use std::env;

use super::{AnthropicAiSdk, AsyncOpenAI, Genai, Model, Rig};
use reqwest_0_13 as reqwest;
use serde_json::{Value, json};

struct Server {
    url: String,
    http: reqwest::Client,
}

impl Server {
    fn from_env() -> Self {
        let url = env::var("LLMOCK_URL").expect("LLMOCK_URL: run .ci/clients");
        let http = reqwest::Client::new();
        Self { url, http }
    }

    async fn script(&self, behaviors: &[Value]) {
        let url = format!("{}/_llmock/scenario", self.url);
        self.http.delete(&url).send().await.unwrap();
        let scenario = json!({ "behaviors": behaviors });
        let answer = self.http.post(&url).json(&scenario).send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
    }

    async fn requests(&self) -> u64 {
        let url = format!("{}/_llmock/requests", self.url);
        let journal: Value = self.http.get(url).send().await.unwrap().json().await.unwrap();
        journal["count"].as_u64().unwrap()
    }
}

/// Without `retry_after` this server asks for 1 s after all that can be retried.
fn fail(status: u16, times: u32) -> Value {
    json!({ "type": "fail", "status": status, "times": times, "retry_after": 0 })
}

fn fault(kind: &str, times: u32) -> Value {
    json!({ "type": "stream_fault", "kind": kind, "after_chunks": 1, "times": times })
}

/// Faults, with the client's outcome and number of requests.
struct Case {
    name: &'static str,
    faults: Vec<Value>,
    succeeds: bool,
    requests: u64,
}

fn case(name: &'static str, faults: Vec<Value>, succeeds: bool, requests: u64) -> Case {
    Case { name, faults, succeeds, requests }
}

fn of_both() -> Vec<Case> {
    let throttled = json!({ "type": "fail", "status": 429, "times": 2, "retry_after": 1 });
    let out_of_money = json!({ "type": "fail", "status": 429, "code": "insufficient_quota" });
    vec![
        case("429 with a hint", vec![throttled], true, 3),
        case("503", vec![fail(503, 3)], true, 4),
        case("500", vec![fail(500, 2)], true, 3),
        case("529", vec![fail(529, 2)], true, 3),
        case("a mixture", vec![fail(503, 1), fail(500, 1), fail(529, 1)], true, 4),
        case("503 to the end", vec![fail(503, 5)], false, 5),
        case("no money", vec![out_of_money], false, 1),
        case("400", vec![fail(400, 1)], false, 1),
        case("401", vec![fail(401, 1)], false, 1),
        case("503, then 400", vec![fail(503, 1), fail(400, 1)], false, 2),
    ]
}

fn of_streams() -> Vec<Case> {
    let faults = vec![fault("disconnect", 1), fault("truncate", 1)];
    vec![
        case("disconnect", vec![fault("disconnect", 2)], true, 3),
        case("truncate", vec![fault("truncate", 2)], true, 3),
        case("a disconnect and a truncation", faults, true, 3),
        case("503, then a truncation", vec![fail(503, 1), fault("truncate", 1)], true, 3),
    ]
}

async fn judge(server: &Server, model: &impl Model) {
    // Each case has a prompt of its own: the server takes the same request, sent again, for a retry.
    for case in of_both() {
        check(server, &case, model.ask(case.name)).await;
    }
    for case in of_both().into_iter().chain(of_streams()) {
        check(server, &case, model.stream(case.name)).await;
    }
}

async fn check(server: &Server, case: &Case, call: impl Future<Output = Result<(), String>>) {
    server.script(&case.faults).await;
    let before = server.requests().await;
    let outcome = call.await;
    let name = case.name;
    assert_eq!(outcome.is_ok(), case.succeeds, "{name}: {outcome:?}");
    assert_eq!(server.requests().await - before, case.requests, "{name}: {outcome:?}");
    println!("ok: {name}");
}

macro_rules! tests {
    ($($name:ident: $model:path, $base:literal;)*) => {$(
        #[tokio::test]
        #[ignore = "needs llmock: run .ci/clients"]
        async fn $name() {
            let server = Server::from_env();
            let model = $model(&format!("{}{}", server.url, $base));
            judge(&server, &model).await;
        }
    )*};
}

tests! {
    async_openai: AsyncOpenAI::at, "/v1";
    anthropic_ai_sdk: AnthropicAiSdk::at, "/anthropic/v1";
    genai_openai: Genai::openai, "/v1";
    genai_anthropic: Genai::anthropic, "/anthropic/v1";
    rig_openai: Rig::openai, "/v1";
    rig_anthropic: Rig::anthropic, "/anthropic/v1";
}
