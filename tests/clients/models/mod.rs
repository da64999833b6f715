//! Clients of language models, each behind annotated methods with the same interface.

mod aimock;
mod llmock;

use anthropic_ai_sdk::client::AnthropicClient;
use anthropic_ai_sdk::types::message::{
    CreateMessageParams, CreateMessageResponse, Message, MessageClient, MessageError, Role,
    StreamEvent,
};
use async_openai::Client as OpenAIClient;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::types::chat::{CreateChatCompletionResponse, CreateChatCompletionStreamResponse};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use genai::adapter::AdapterKind;
use genai::chat::{ChatRequest, ChatResponse, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use retry_clients::async_openai::client_without_retries;
use retry_runtime::retry;
use rig_core::DynModel;
use rig_core::completion::{CompletionRequest, CompletionResponse};
use rig_core::error::ProviderError;
use rig_core::operation::Completion;
use rig_core::providers::anthropic::AnthropicConfig;
use rig_core::providers::openai::OpenAIConfig as RigOpenAIConfig;
use rig_core::streaming::{Item, StreamEvent as RigEvent};
use rig_reqwest::ReqwestClient;

use crate::async_openai::request;

/// A model of OpenAI.
const MODEL: &str = "gpt-4o-mini";

/// A client that returns a completion, whole or as a stream, or an error.
pub(crate) trait Model {
    async fn ask(&self, prompt: &str) -> Result<(), String>;
    async fn stream(&self, prompt: &str) -> Result<(), String>;
}

/// An error of the opening or of an item.
async fn to_the_end<T, E: ToString>(
    stream: Result<BoxStream<'_, Result<T, E>>, E>,
) -> Result<(), String> {
    let mut stream = stream.map_err(|error| error.to_string())?;
    while let Some(item) = stream.next().await {
        item.map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn outcome<T, E: ToString>(answer: Result<T, E>) -> Result<(), String> {
    answer.map(drop).map_err(|error| error.to_string())
}

pub(crate) struct AsyncOpenAI(OpenAIClient<OpenAIConfig>);

type Chunk = CreateChatCompletionStreamResponse;

impl AsyncOpenAI {
    pub(crate) fn at(url: &str) -> Self {
        let config = OpenAIConfig::new().with_api_base(url).with_api_key("none");
        Self(client_without_retries(config))
    }

    #[retry(max = 4, base = "20ms", jitter = "none", on = retry_clients::async_openai::classify)]
    async fn create(&self, prompt: &str) -> Result<CreateChatCompletionResponse, OpenAIError> {
        self.0.chat().create(request(MODEL, prompt)).await
    }

    #[retry(max = 4, base = "20ms", jitter = "none", stream = "buffer", on = retry_clients::async_openai::classify)]
    async fn chunks(
        &self,
        prompt: &str,
    ) -> Result<BoxStream<'static, Result<Chunk, OpenAIError>>, OpenAIError> {
        let chunks = self.0.chat().create_stream(request(MODEL, prompt)).await?;
        let is_last =
            |chunk: &Chunk| chunk.choices.iter().any(|choice| choice.finish_reason.is_some());
        Ok(retry_clients::async_openai::whole(chunks, is_last).boxed())
    }
}

impl Model for AsyncOpenAI {
    async fn ask(&self, prompt: &str) -> Result<(), String> {
        outcome(self.create(prompt).await)
    }

    async fn stream(&self, prompt: &str) -> Result<(), String> {
        to_the_end(self.chunks(prompt).await).await
    }
}

pub(crate) struct AnthropicAiSdk(AnthropicClient);

impl AnthropicAiSdk {
    pub(crate) fn at(url: &str) -> Self {
        let client = AnthropicClient::builder("none", "2023-06-01").with_api_base_url(url);
        Self(client.build::<MessageError>().unwrap())
    }

    fn message(prompt: &str, stream: bool) -> CreateMessageParams {
        CreateMessageParams {
            max_tokens: 99,
            messages: vec![Message::new_text(Role::User, prompt)],
            model: String::from("claude-3-5-haiku-latest"),
            stream: stream.then_some(true),
            ..CreateMessageParams::default()
        }
    }

    // The client drops the server's hint, so the settings contain the wait.
    #[retry(max = 4, base = "20ms", jitter = "none", throttled(base = "1s"), on = retry_clients::anthropic_ai_sdk::classify)]
    async fn create(
        &self,
        message: &CreateMessageParams,
    ) -> Result<CreateMessageResponse, MessageError> {
        self.0.create_message(Some(message)).await
    }

    #[retry(max = 4, base = "20ms", jitter = "none", stream = "buffer",
        throttled(base = "1s"), on = retry_clients::anthropic_ai_sdk::classify)]
    async fn events<'a>(
        &'a self,
        message: &'a CreateMessageParams,
    ) -> Result<BoxStream<'a, Result<StreamEvent, MessageError>>, MessageError> {
        let events = self.0.create_message_streaming(message).await?;
        Ok(retry_clients::anthropic_ai_sdk::whole(events).boxed())
    }
}

impl Model for AnthropicAiSdk {
    async fn ask(&self, prompt: &str) -> Result<(), String> {
        outcome(self.create(&Self::message(prompt, false)).await)
    }

    async fn stream(&self, prompt: &str) -> Result<(), String> {
        to_the_end(self.events(&Self::message(prompt, true)).await).await
    }
}

pub(crate) struct Genai {
    client: genai::Client,
    target: ServiceTarget,
}

impl Genai {
    pub(crate) fn openai(url: &str) -> Self {
        Self::of(AdapterKind::OpenAI, MODEL, url)
    }

    pub(crate) fn anthropic(url: &str) -> Self {
        Self::of(AdapterKind::Anthropic, "claude-3-5-haiku-latest", url)
    }

    fn of(adapter: AdapterKind, model: &'static str, url: &str) -> Self {
        Self {
            client: genai::Client::builder().build().unwrap(),
            target: ServiceTarget {
                endpoint: Endpoint::from_owned(format!("{url}/")),
                auth: AuthData::from_single("none"),
                model: ModelIden::new(adapter, model),
            },
        }
    }

    #[retry(max = 4, base = "20ms", jitter = "none", on = retry_clients::genai::classify)]
    async fn chat(&self, request: &ChatRequest) -> Result<ChatResponse, genai::Error> {
        self.client.exec_chat(self.target.clone(), request.clone(), None).await
    }

    #[retry(max = 4, base = "20ms", jitter = "none", stream = "buffer", on = retry_clients::genai::classify)]
    async fn events(
        &self,
        request: &ChatRequest,
    ) -> Result<BoxStream<'static, Result<ChatStreamEvent, genai::Error>>, genai::Error> {
        let answer =
            self.client.exec_chat_stream(self.target.clone(), request.clone(), None).await?;
        Ok(retry_clients::genai::whole(answer).boxed())
    }
}

impl Model for Genai {
    async fn ask(&self, prompt: &str) -> Result<(), String> {
        outcome(self.chat(&ChatRequest::from_user(prompt)).await)
    }

    async fn stream(&self, prompt: &str) -> Result<(), String> {
        to_the_end(self.events(&ChatRequest::from_user(prompt)).await).await
    }
}

pub(crate) struct Rig(DynModel<Completion>);

impl Rig {
    pub(crate) fn openai(url: &str) -> Self {
        let config = RigOpenAIConfig::new("none").with_base_url(url);
        Self(config.connect(ReqwestClient::default()).chat(MODEL).erase())
    }

    /// Rig adds the version to the path.
    pub(crate) fn anthropic(url: &str) -> Self {
        let config = AnthropicConfig::new("none").with_base_url(url.trim_end_matches("/v1"));
        Self(config.connect(ReqwestClient::default()).completion("claude-3-5-haiku-latest").erase())
    }

    #[retry(max = 4, base = "20ms", jitter = "none", on = retry_clients::rig::classify)]
    async fn call(&self, request: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        self.0.call(request.clone()).await
    }

    #[retry(max = 4, base = "20ms", jitter = "none", stream = "buffer", on = retry_clients::rig::classify)]
    async fn items(
        &self,
        request: CompletionRequest,
    ) -> Result<BoxStream<'static, Result<Item<RigEvent>, ProviderError>>, ProviderError> {
        Ok(self.0.stream(request.clone())?.boxed())
    }
}

impl Model for Rig {
    async fn ask(&self, prompt: &str) -> Result<(), String> {
        outcome(self.call(&CompletionRequest::new(prompt).max_tokens(99)).await)
    }

    async fn stream(&self, prompt: &str) -> Result<(), String> {
        to_the_end(self.items(CompletionRequest::new(prompt).max_tokens(99)).await).await
    }
}
