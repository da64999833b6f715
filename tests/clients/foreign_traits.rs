//! The key `of` on traits of published crates: decorators from copies of their declarations.

use std::sync::{Mutex, MutexGuard};

/// The requests of a client. The first ones fail.
#[derive(Debug)]
struct Script<T> {
    asked: Mutex<Vec<T>>,
    failures: usize,
}

impl<T> Script<T> {
    fn new(failures: usize) -> Self {
        let asked = Mutex::new(Vec::new());
        Self { asked, failures }
    }

    /// Returns true if this attempt fails.
    fn fails(&self, asked: T) -> bool {
        let mut all = self.asked();
        all.push(asked);
        all.len() <= self.failures
    }

    fn asked(&self) -> MutexGuard<'_, Vec<T>> {
        self.asked.lock().unwrap()
    }
}

fn assert_send<T: Send>(value: T) -> T {
    value
}

/// A trait whose futures are `Send`, with provided methods. One names `Self` in what it returns.
mod rig {
    use std::future::Future;
    use std::sync::Arc;
    use std::time::Duration;

    use futures_util::{StreamExt, stream};
    use retry_runtime::{retry, testing};
    use rig_core_0_42::completion::{
        AssistantContent, CompletionError, CompletionRequest, CompletionResponse, Message,
        ProviderCapabilities, Usage,
    };
    use rig_core_0_42::streaming::StreamingCompletionResponse;
    use rig_core_0_42::wasm_compat::{WasmCompatSend, WasmCompatSync};

    use super::{Script, assert_send};

    mod original {
        pub(super) use rig_core_0_42::completion::CompletionModel;
    }

    #[retry(
        wrapper = Retrying,
        of = original::CompletionModel,
        max = 4,
        base = "1s",
        jitter = "none",
        on = |_| true
    )]
    trait CompletionModel: WasmCompatSend + WasmCompatSync {
        fn completion(
            &self,
            request: CompletionRequest,
        ) -> impl Future<Output = Result<CompletionResponse, CompletionError>> + WasmCompatSend;

        fn stream(
            &self,
            request: CompletionRequest,
        ) -> impl Future<Output = Result<StreamingCompletionResponse, CompletionError>> + WasmCompatSend;

        fn completion_request(
            &self,
            prompt: impl Into<Message>,
        ) -> rig_core_0_42::completion::CompletionRequestBuilder<Self>
        where
            Self: Sized + Clone,
        {
            rig_core_0_42::completion::CompletionRequestBuilder::new(self.clone(), prompt)
        }

        fn capabilities(&self) -> ProviderCapabilities;
    }

    #[derive(Clone, Debug)]
    struct Client(Arc<Script<CompletionRequest>>);

    impl Client {
        fn new(failures: usize) -> Self {
            Self(Arc::new(Script::new(failures)))
        }

        fn attempts(&self) -> usize {
            self.0.asked().len()
        }
    }

    impl original::CompletionModel for Client {
        async fn completion(
            &self,
            request: CompletionRequest,
        ) -> Result<CompletionResponse, CompletionError> {
            if self.0.fails(request) {
                return Err(no_message());
            }
            let answer = vec![AssistantContent::text("hello")];
            Ok(CompletionResponse::new(answer, Usage::default(), "test"))
        }

        async fn stream(
            &self,
            request: CompletionRequest,
        ) -> Result<StreamingCompletionResponse, CompletionError> {
            if self.0.fails(request) {
                return Err(no_message());
            }
            let items = stream::iter([Err(no_message())]);
            Ok(StreamingCompletionResponse::stream("test", Box::pin(items)))
        }

        fn capabilities(&self) -> ProviderCapabilities {
            ProviderCapabilities { composes_native_output_with_tools: true }
        }
    }

    fn no_message() -> CompletionError {
        CompletionError::ResponseError(String::from("no message in response"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_completion_is_retried_with_the_same_request() {
        use original::CompletionModel;

        let recording = testing::record();
        let model = Retrying::new(Client::new(2));
        let request = model.completion_request("hi").max_tokens(7).build();
        let response = assert_send(model.completion(request)).await.unwrap();
        assert_eq!(response.choice, [AssistantContent::text("hello")]);
        assert_eq!(recording.delays(), [1, 2].map(Duration::from_secs));
        let requests = model.inner().0.asked().clone();
        assert_eq!(requests.len(), 3);
        for request in &requests {
            assert_eq!(request.chat_history, [Message::user("hi")]);
            assert_eq!(request.max_tokens, Some(7));
        }

        // The provided builder is made with the decorator, not with what it wraps.
        let model = Retrying::new(Client::new(2));
        model.completion_request("hi").send().await.unwrap();
        assert_eq!(model.inner().attempts(), 3);
        let model = Retrying::new(Client::new(9));
        model.completion_request("hi").send().await.unwrap_err();
        assert_eq!(model.inner().attempts(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn the_opening_of_a_stream_is_retried_and_not_its_items() {
        use original::CompletionModel;

        let model = Retrying::new(Client::new(2));
        let request = model.completion_request("hi").build();
        let mut items = assert_send(model.stream(request)).await.unwrap();
        assert_eq!(model.inner().attempts(), 3);
        assert!(items.next().await.unwrap().is_err());
        assert_eq!(model.inner().attempts(), 3);
        // The client's capabilities.
        assert!(model.capabilities().composes_native_output_with_tools);
    }
}

/// A trait under `#[async_trait]`, with an error type of the client's.
mod lettre {
    use std::sync::atomic::{AtomicU32, Ordering};

    use async_trait::async_trait;
    use lettre::address::Envelope;
    use lettre::{AsyncTransport as _, Message};
    use retry_runtime::{Classify, retry};

    use super::{Script, assert_send};

    #[retry(wrapper = Retrying, of = lettre::AsyncTransport, max = 4, backoff = "none")]
    #[async_trait]
    trait AsyncTransport {
        type Ok;
        type Error: Classify;

        async fn send(&self, message: Message) -> Result<Self::Ok, Self::Error>;

        async fn send_raw(
            &self,
            envelope: &Envelope,
            email: &[u8],
        ) -> Result<Self::Ok, Self::Error>;

        #[retry(skip)]
        async fn shutdown(&self);
    }

    #[derive(Debug, PartialEq, Eq, Classify)]
    #[classify(transient)]
    struct Disconnected;

    struct Transport {
        emails: Script<(Envelope, Vec<u8>)>,
        shutdowns: AtomicU32,
    }

    #[async_trait]
    impl lettre::AsyncTransport for Transport {
        type Ok = usize;
        type Error = Disconnected;

        async fn send_raw(&self, envelope: &Envelope, email: &[u8]) -> Result<usize, Disconnected> {
            if self.emails.fails((envelope.clone(), email.to_vec())) {
                Err(Disconnected)
            } else {
                Ok(email.len())
            }
        }

        async fn shutdown(&self) {
            self.shutdowns.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// An owned message is cloned.
    #[tokio::test]
    async fn sending_is_retried_with_the_same_email() {
        let message = Message::builder()
            .from("one@example.org".parse().unwrap())
            .to("two@example.org".parse().unwrap())
            .subject("Greeting")
            .body(String::from("hello"))
            .unwrap();
        let (envelope, raw) = (message.envelope().clone(), message.formatted());
        for is_raw in [false, true] {
            let (emails, shutdowns) = (Script::new(2), AtomicU32::new(0));
            let transport = Retrying::new(Transport { emails, shutdowns });
            let sent = if is_raw {
                assert_send(transport.send_raw(&envelope, &raw)).await
            } else {
                transport.send(message.clone()).await
            };
            assert_eq!(sent, Ok(raw.len()));
            let email = (envelope.clone(), raw.clone());
            assert_eq!(*transport.inner().emails.asked(), [email.clone(), email.clone(), email]);
            transport.shutdown().await;
            assert_eq!(transport.inner().shutdowns.load(Ordering::Relaxed), 1);
        }
    }
}
