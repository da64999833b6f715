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
//! This client drops the status, and keeps only the text of a response.

use ::ollama_rs::error::OllamaError;
use retry_runtime::{Classify, Verdict};

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | "server busy", which Ollama sends with a 503 when its queue is full | transient: not processed |
/// | no connection | transient |
/// | a broken connection | transient, ambiguous |
/// | an HTTP client timeout | timeout |
/// | any other response, unreadable responses, tools that failed | stop |
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
