//! Tests clients with aimock, a server that responds according to `aimock.json` and keeps a journal.
//!
//! `.ci/clients` installs it, and restarts it for each of these tests with its address in `AIMOCK_URL`.

use std::env;

use super::{AnthropicAiSdk, AsyncOpenAI, Genai, Model, Rig};
use reqwest_0_13 as reqwest;
use serde_json::Value;

struct Server {
    url: String,
}

impl Server {
    fn from_env() -> Self {
        let url = env::var("AIMOCK_URL").expect("AIMOCK_URL: run .ci/clients");
        Self { url }
    }

    /// Returns the arrival times of a prompt, in milliseconds, and the response statuses.
    async fn journal(&self, prompt: &str) -> Vec<(u64, u64)> {
        let answer = reqwest::get(format!("{}/__aimock/journal", self.url)).await.unwrap();
        let entries: Vec<Value> = answer.json().await.unwrap();
        entries
            .iter()
            .filter(|entry| entry["body"]["messages"].to_string().contains(prompt))
            .map(|entry| {
                let status = entry["response"]["status"].as_u64().unwrap();
                (entry["timestamp"].as_u64().unwrap(), status)
            })
            .collect()
    }

    async fn statuses(&self, prompt: &str) -> Vec<u64> {
        let journal = self.journal(prompt).await;
        journal.into_iter().map(|(_, status)| status).collect()
    }
}

async fn judge(model: &impl Model, server: &Server) {
    let prompt = "a 429, a 503, an answer";
    model.ask(prompt).await.unwrap();
    assert_eq!(server.statuses(prompt).await, [429, 503, 200]);
    let journal = server.journal(prompt).await;
    assert!(journal[1].0 - journal[0].0 >= 1000, "Retry-After: 1, {journal:?}");

    for (prompt, status) in [("no money", 429), ("a bad request", 400)] {
        model.ask(prompt).await.unwrap_err();
        assert_eq!(server.statuses(prompt).await, [status]);
        model.stream(prompt).await.unwrap_err();
        assert_eq!(server.statuses(prompt).await, [status; 2]);
    }

    let prompt = "a stream that breaks, an answer";
    model.stream(prompt).await.unwrap();
    assert_eq!(server.statuses(prompt).await.len(), 2);
}

macro_rules! tests {
    ($($name:ident: $model:path, $base:literal;)*) => {$(
        #[tokio::test]
        #[ignore = "needs aimock: run .ci/clients"]
        async fn $name() {
            let server = Server::from_env();
            judge(&$model(&format!("{}{}", server.url, $base)), &server).await;
        }
    )*};
}

tests! {
    async_openai: AsyncOpenAI::at, "/v1";
    anthropic_ai_sdk: AnthropicAiSdk::at, "/v1";
    genai_openai: Genai::openai, "/v1";
    genai_anthropic: Genai::anthropic, "/v1";
    rig_openai: Rig::openai, "/v1";
    rig_anthropic: Rig::anthropic, "/v1";
}
