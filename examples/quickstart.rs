//! A model client that survives a busy API: `cargo run --example quickstart`.
//!
//! The API, at the end, answers 503, then 429 with `Retry-After: 1`, then an empty completion, then a good
//! one; a wrong key gets 401. The log shows what becomes of each.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing::post};
use http::{HeaderMap, StatusCode};
use retry_runtime::{Classify, retry};
use serde_json::{Value, json};

struct Model {
    http: reqwest::Client,
    url: String,
    key: &'static str,
}

impl Model {
    /// At most 5 retries, after a random part of 0.2 s, 0.4 s, 0.8 s, …, or when the server asks for them.
    #[retry(name = "model.complete", max = 5, base = "200ms", until = |text| !text.is_empty())]
    async fn complete(&self, prompt: &str) -> Result<String, ModelError> {
        let request = self.http.post(&self.url).bearer_auth(self.key);
        let response = request.json(&json!({ "prompt": prompt })).send().await?;
        if !response.status().is_success() {
            let (status, headers) = (response.status(), response.headers().clone());
            return Err(ModelError::Refused((status, headers)));
        }
        let completion: Value = response.json().await?;
        Ok(completion["text"].as_str().unwrap_or_default().into())
    }
}

/// Each variant leaves it to what it holds whether a retry is worth while, and when.
#[derive(Debug, thiserror::Error, Classify)]
enum ModelError {
    /// 429, 503 and the like are, after the wait that the headers ask for.
    #[error("{}", .0.0)]
    #[classify(transparent)]
    Refused((StatusCode, HeaderMap)),
    /// A timeout or a lost connection is, a malformed answer is not.
    #[error(transparent)]
    #[classify(transparent)]
    Transport(#[from] reqwest::Error),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().init(); // Shows the retries.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, Router::new().route("/", post(busy_api))).into_future());

    let http = reqwest::Client::builder().no_proxy().build()?; // The server is on this machine.
    for key in ["right", "wrong"] {
        let (http, url) = (http.clone(), url.clone());
        let started = Instant::now();
        let outcome = Model { http, url, key }.complete("Say hello.").await;
        let outcome = outcome.unwrap_or_else(|error| error.to_string());
        println!("{key} key: {outcome} (after {:.1?})", started.elapsed());
    }
    Ok(())
}

async fn busy_api(headers: HeaderMap) -> Response {
    static SERVED: AtomicU32 = AtomicU32::new(0);
    if headers["authorization"] != "Bearer right" {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    match SERVED.fetch_add(1, Ordering::Relaxed) {
        0 => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        1 => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "1")]).into_response(),
        2 => Json(json!({ "text": "" })).into_response(),
        _ => Json(json!({ "text": "Hello!" })).into_response(),
    }
}
