//! The differences between vendors: the URL and format of a request, and the position of the completion.

use clap::ValueEnum;
use reqwest::{Client, RequestBuilder, Url};
use serde_json::{Value, json};

use crate::client::Message;

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum Vendor {
    /// OpenAI, and every compatible API
    #[default]
    Openai,
    /// Anthropic's Messages API
    Anthropic,
}

impl Vendor {
    /// Returns the request without its body.
    pub(crate) fn request(self, http: &Client, base_url: &Url, api_key: &str) -> RequestBuilder {
        let base_url = base_url.as_str().trim_end_matches('/');
        match self {
            Self::Openai => http
                .post(format!("{base_url}/chat/completions"))
                .bearer_auth(api_key),
            Self::Anthropic => http
                .post(format!("{base_url}/messages"))
                .header("x-api-key", api_key)
                .header("anthropic-version", "2023-06-01"),
        }
    }

    pub(crate) fn body(self, model: &str, messages: &[Message]) -> Value {
        match self {
            Self::Openai => json!({ "model": model, "messages": messages }),
            Self::Anthropic => json!({ "model": model, "messages": messages, "max_tokens": 1024 }),
        }
    }

    pub(crate) fn completion(self, answer: &Value) -> Option<String> {
        let completion = match self {
            Self::Openai => &answer["choices"][0]["message"]["content"],
            Self::Anthropic => &answer["content"][0]["text"],
        };
        completion.as_str().map(String::from)
    }
}
