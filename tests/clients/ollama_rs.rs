//! ollama-rs: failures as its client gives them, classified and counted.

use std::time::Duration;

use ollama_rs::Ollama;
use ollama_rs::error::OllamaError;
use ollama_rs::generation::completion::GenerationResponse;
use ollama_rs::generation::completion::request::GenerationRequest;
use retry_clients::ollama_rs::classify;
use retry_runtime::{Verdict, retry, testing};

use support::scripted::{self, Answer, Server, answer, closed, closed_port, cut};
use support::verdicts::BROKEN;

const BUSY: &str =
    r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#;

struct Model(Ollama);

impl Model {
    fn at(url: &str) -> Self {
        Self(Ollama::try_new(url).unwrap())
    }

    fn impatient(url: &str) -> Self {
        let http = reqwest_0_12::Client::builder().timeout(Duration::from_millis(300));
        let client = Ollama::builder()
            .url(url)
            .reqwest_client(http.build().unwrap());
        Self(client.build())
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn generate(&self) -> Result<GenerationResponse, OllamaError> {
        let request = GenerationRequest::new(String::from("m"), "hi");
        self.0.generate(request).await
    }
}

async fn check(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| {
        Model::at(url).generate().await
    })
    .await;
}

#[tokio::test]
async fn answers() {
    check(answer(503, BUSY), Verdict::TRANSIENT).await;
    check(
        answer(404, r#"{"error":"model 'm' not found"}"#),
        Verdict::STOP,
    )
    .await;
    check(
        answer(500, r#"{"error":"model requires more system memory"}"#),
        Verdict::STOP,
    )
    .await;
    check(answer(200, "no JSON"), Verdict::STOP).await;
}

#[tokio::test]
async fn transport() {
    check(closed(), BROKEN).await;
    check(cut(), BROKEN).await;
    let _skipped = testing::skip_sleeps();
    let error = Model::at(&closed_port()).generate().await.unwrap_err();
    assert_eq!(classify(&error), Verdict::TRANSIENT, "{error:?}");

    let server = Server::start([Answer::Nothing]);
    let error = Model::impatient(&server.url).generate().await.unwrap_err();
    assert_eq!(classify(&error), Verdict::TIMEOUT, "{error:?}");
    server.assert_attempts(Verdict::TIMEOUT);
}
