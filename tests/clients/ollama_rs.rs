//! ollama-rs: failures as its client reports them, classified and counted.

use ollama_rs::Ollama;
use ollama_rs::error::OllamaError;
use ollama_rs::generation::completion::GenerationResponse;
use ollama_rs::generation::completion::request::GenerationRequest;
use retry_clients::ollama_rs::classify;
use support::check_rows;
use support::prelude::*;
use support::scripted::{Answer, closed, cut};
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
        let client = Ollama::builder().url(url).reqwest_client(http.build().unwrap());
        Self(client.build())
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn generate(&self) -> Result<GenerationResponse, OllamaError> {
        let request = GenerationRequest::new(String::from("m"), "hi");
        self.0.generate(request).await
    }
}

async fn check(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Model::at(url).generate().await).await;
}

async fn check_impatient(answer: Answer, expected: Verdict) {
    let call = async |url: &str| Model::impatient(url).generate().await;
    scripted::check(answer, expected, classify, call).await;
}

#[tokio::test]
async fn answers() {
    check_rows! { check:
        [503] BUSY => Verdict::TRANSIENT,
        [404] r#"{"error":"model 'm' not found"}"# => Verdict::STOP,
        [500] r#"{"error":"model requires more system memory"}"# => Verdict::STOP,
        [200] "no JSON" => Verdict::STOP,
        closed() => BROKEN,
        cut() => BROKEN,
        Answer::Absent => Verdict::TRANSIENT,
    }
    check_impatient(Answer::Nothing, Verdict::TIMEOUT).await;
}
