//! The client: one method, retried.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use reqwest::Url;
use retry_observers::Progress;
use retry_runtime::{SharedPolicy, retry};
use serde::Serialize;
use serde_json::Value;

use crate::Arguments;
use crate::error::ModelError;
use crate::vendor::Vendor;

/// One turn of a conversation.
#[derive(Clone, Serialize)]
pub(crate) struct Message {
    role: &'static str,
    content: String,
}

impl Message {
    pub(crate) fn user(content: String) -> Self {
        Self {
            role: "user",
            content,
        }
    }
}

/// A client for a model of any vendor.
pub(crate) struct Client {
    http: reqwest::Client,
    vendor: Vendor,
    base_url: Url,
    model: String,
    api_key: String,
    /// May be replaced while a call is failing.
    policy: Arc<SharedPolicy>,
    timeout: Duration,
    progress: Progress,
}

impl Client {
    pub(crate) fn new(
        arguments: &Arguments,
        policy: Arc<SharedPolicy>,
        timeout: Duration,
        progress: Progress,
    ) -> Result<Self, ModelError> {
        let http = reqwest::Client::builder()
            // By default, reqwest resends requests that a server refused to process. In this example, all requests
            // should be in the log.
            .retry(reqwest::retry::never())
            .build()?;
        Ok(Self {
            http,
            vendor: arguments.vendor,
            base_url: arguments.base_url.clone(),
            model: arguments.model.clone(),
            api_key: arguments.api_key.clone(),
            policy,
            timeout,
            progress,
        })
    }

    /// Returns the model's answer to the messages.
    ///
    /// Every attempt gets the same messages, which are borrowed and never changed. After a 413, the next attempt sends
    /// a copy in which the longest message is halved, and after another 413, halved again. Each 413 uses up a retry and
    /// is logged, like any other failure.
    #[retry(name = "model.complete", policy = self.policy, timeout = self.timeout, attempt = attempt,
        observe = &self.progress)]
    pub(crate) async fn complete(&self, messages: &[Message]) -> Result<String, ModelError> {
        let mut messages = messages.to_vec();
        for error in attempt.errors() {
            if let ModelError::TooLarge(_) = error {
                longest(&mut messages).map(halve);
            }
        }
        let response = self
            .vendor
            .request(&self.http, &self.base_url, &self.api_key)
            .json(&self.vendor.body(&self.model, &messages))
            .send()
            .await?;
        let status = response.status();
        let headers = response.headers().clone();
        let text = response.text().await?;
        let answer = serde_json::from_str::<Value>(&text).unwrap_or(Value::String(text));
        if status == StatusCode::PAYLOAD_TOO_LARGE {
            let bytes = longest(&mut messages).map_or(0, |content| content.len());
            return Err(ModelError::TooLarge(bytes));
        }
        // Some gateways send an error with status 200.
        if !status.is_success() || !answer["error"].is_null() {
            return Err(ModelError::refused(status, &headers, &answer));
        }
        self.vendor
            .completion(&answer)
            .ok_or(ModelError::NoCompletion)
    }
}

fn longest(messages: &mut [Message]) -> Option<&mut String> {
    let contents = messages.iter_mut().map(|message| &mut message.content);
    contents.max_by_key(|content| content.len())
}

/// Keeps the second half, because a question usually follows its material.
fn halve(content: &mut String) {
    let middle = content.ceil_char_boundary(content.len() / 2);
    content.drain(..middle);
}
