//! [`ollama-rs`](https://docs.rs/ollama-rs/0.3) 0.3.
//!
//! ```
//! use ollama_rs::Ollama;
//! use ollama_rs::error::OllamaError;
//! use ollama_rs::generation::completion::{
//!     GenerationResponse, request::GenerationRequest,
//! };
//! use retry_clients::ollama_rs::classify;
//! use retry_runtime::retry;
//!
//! struct Model(Ollama);
//!
//! impl Model {
//!     #[retry(max = 5, on = classify)]
//!     async fn generate(
//!         &self,
//!         request: &GenerationRequest<'static>,
//!     ) -> Result<GenerationResponse, OllamaError> {
//!         self.0.generate(request.clone()).await
//!     }
//! }
//! # let _ = Model::generate;
//! ```
//!
//! This client keeps no status, only the text of an answer.

use ::ollama_rs::error::OllamaError;
use retry_runtime::{Classify, Verdict};

/// Which failures are worth a retry.
///
/// | failure | verdict |
/// |---|---|
/// | "server busy", what Ollama says with a 503 when its queue is full | transient: refused unread |
/// | no connection | transient |
/// | a connection that broke | transient, ambiguous |
/// | a timeout of the HTTP client | timeout |
/// | any other answer, unreadable answers, tools that failed | stop |
pub fn classify(error: &OllamaError) -> Verdict {
    match error {
        OllamaError::ReqwestError(error) => error.classify(),
        OllamaError::Other(text) if text.contains("server busy") => Verdict::TRANSIENT,
        OllamaError::InternalError(error) if error.message.contains("server busy") => {
            Verdict::TRANSIENT
        }
        OllamaError::Other(text) => text.starts_with("Failed to read response").into(),
        _ => Verdict::STOP,
    }
}
