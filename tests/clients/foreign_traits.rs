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
    use retry_runtime::{Verdict, retry, testing};
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
        on = verdict
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

    fn verdict(error: &CompletionError) -> Verdict {
        match error {
            CompletionError::HttpError(_) => Verdict::TRANSIENT,
            CompletionError::ResponseError(message) if message.contains("no message") => {
                Verdict::TRANSIENT
            }
            _ => Verdict::STOP,
        }
    }

    #[derive(Clone, Debug)]
    struct Client {
        requests: Arc<Script<CompletionRequest>>,
        error: fn() -> CompletionError,
    }

    impl Client {
        fn new(failures: usize, error: fn() -> CompletionError) -> Self {
            let requests = Arc::new(Script::new(failures));
            Self { requests, error }
        }

        fn attempts(&self) -> usize {
            self.requests.asked().len()
        }
    }

    impl original::CompletionModel for Client {
        async fn completion(
            &self,
            request: CompletionRequest,
        ) -> Result<CompletionResponse, CompletionError> {
            if self.requests.fails(request) {
                return Err((self.error)());
            }
            let answer = vec![AssistantContent::text("hello")];
            Ok(CompletionResponse::new(answer, Usage::default(), "test"))
        }

        async fn stream(
            &self,
            request: CompletionRequest,
        ) -> Result<StreamingCompletionResponse, CompletionError> {
            if self.requests.fails(request) {
                return Err((self.error)());
            }
            let items = stream::iter([Err((self.error)())]);
            Ok(StreamingCompletionResponse::stream("test", Box::pin(items)))
        }

        fn capabilities(&self) -> ProviderCapabilities {
            ProviderCapabilities { composes_native_output_with_tools: true }
        }
    }

    fn no_message() -> CompletionError {
        CompletionError::ResponseError(String::from("no message in response"))
    }

    fn refused() -> CompletionError {
        CompletionError::ProviderError(String::from("no such model"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_completion_is_retried_with_the_same_request() {
        use original::CompletionModel;

        let recording = testing::record();
        let model = Retrying::new(Client::new(2, no_message));
        let request = model.completion_request("hi").max_tokens(7).build();
        let response = assert_send(model.completion(request)).await.unwrap();
        assert_eq!(response.choice, [AssistantContent::text("hello")]);
        assert_eq!(recording.delays(), [1, 2].map(Duration::from_secs));
        let requests = model.inner().requests.asked();
        assert_eq!(requests.len(), 3);
        for request in &*requests {
            assert_eq!(request.chat_history, [Message::user("hi")]);
            assert_eq!(request.max_tokens, Some(7));
        }
    }

    /// The provided builder is made with the decorator, not with what it wraps.
    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_built_and_sent_is_retried() {
        use original::CompletionModel;

        let model = Retrying::new(Client::new(2, no_message));
        model.completion_request("hi").send().await.unwrap();
        assert_eq!(model.inner().attempts(), 3);
        let model = Retrying::new(Client::new(9, no_message));
        model.completion_request("hi").send().await.unwrap_err();
        assert_eq!(model.inner().attempts(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn other_errors_pass_at_once() {
        use original::CompletionModel;

        let model = Retrying::new(Client::new(9, refused));
        let request = model.completion_request("hi").build();
        let error = model.completion(request).await.unwrap_err();
        assert_eq!(error.to_string(), refused().to_string());
        assert_eq!(model.inner().attempts(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn the_opening_of_a_stream_is_retried_and_not_its_items() {
        use original::CompletionModel;

        let model = Retrying::new(Client::new(2, no_message));
        let request = model.completion_request("hi").build();
        let mut items = assert_send(model.stream(request)).await.unwrap();
        assert_eq!(model.inner().attempts(), 3);
        assert!(items.next().await.unwrap().is_err());
        assert_eq!(model.inner().attempts(), 3);
    }

    #[test]
    fn provided_methods_are_those_of_the_client() {
        use original::CompletionModel;

        let model = Retrying::new(Client::new(0, refused));
        assert!(model.capabilities().composes_native_output_with_tools);
    }
}

/// A trait under `#[async_trait]`, with an error type of the client's.
mod lettre {
    use std::sync::atomic::{AtomicU32, Ordering};

    use async_trait::async_trait;
    use lettre::address::Envelope;
    use lettre::{AsyncTransport as _, Message};
    use retry_runtime::{Classify, Policy, retry};

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
    enum SmtpError {
        #[classify(transient)]
        Disconnected,
        #[classify(stop)]
        NoSuchMailbox,
    }

    struct Transport {
        emails: Script<(Envelope, Vec<u8>)>,
        error: fn() -> SmtpError,
        shutdowns: AtomicU32,
    }

    impl Transport {
        fn new(failures: usize, error: fn() -> SmtpError) -> Self {
            Self { emails: Script::new(failures), error, shutdowns: AtomicU32::new(0) }
        }
    }

    #[async_trait]
    impl lettre::AsyncTransport for Transport {
        type Ok = usize;
        type Error = SmtpError;

        async fn send_raw(&self, envelope: &Envelope, email: &[u8]) -> Result<usize, SmtpError> {
            if self.emails.fails((envelope.clone(), email.to_vec())) {
                Err((self.error)())
            } else {
                Ok(email.len())
            }
        }

        async fn shutdown(&self) {
            self.shutdowns.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn message() -> Message {
        Message::builder()
            .from("one@example.org".parse().unwrap())
            .to("two@example.org".parse().unwrap())
            .subject("Greeting")
            .body(String::from("hello"))
            .unwrap()
    }

    #[tokio::test]
    async fn sending_is_retried_with_the_same_email() {
        let transport = Retrying::new(Transport::new(2, || SmtpError::Disconnected));
        let message = message();
        let (envelope, raw) = (message.envelope(), message.formatted());
        let sent = assert_send(transport.send_raw(envelope, &raw)).await;
        assert_eq!(sent, Ok(raw.len()));
        let email = (envelope.clone(), raw);
        let emails = transport.inner().emails.asked();
        assert_eq!(*emails, [email.clone(), email.clone(), email]);
    }

    #[tokio::test]
    async fn an_owned_message_is_cloned() {
        let transport = Retrying::new(Transport::new(2, || SmtpError::Disconnected));
        let message = message();
        let raw = message.formatted();
        assert_eq!(transport.send(message).await, Ok(raw.len()));
        let emails = transport.inner().emails.asked();
        assert_eq!(emails.len(), 3);
        assert!(emails.iter().all(|(_, email)| *email == raw));
    }

    #[tokio::test]
    async fn other_errors_pass_at_once() {
        let transport = Retrying::new(Transport::new(9, || SmtpError::NoSuchMailbox));
        assert_eq!(transport.send(message()).await, Err(SmtpError::NoSuchMailbox));
        assert_eq!(transport.inner().emails.asked().len(), 1);
    }

    #[tokio::test]
    async fn a_policy_at_run_time_and_what_is_skipped() {
        let transport = Transport::new(9, || SmtpError::Disconnected);
        let transport = Retrying::with_policy(transport, Policy::none().max(1));
        let sent = transport.send(message()).await;
        assert_eq!(sent, Err(SmtpError::Disconnected));
        assert_eq!(transport.inner().emails.asked().len(), 2);
        transport.shutdown().await;
        assert_eq!(transport.inner().shutdowns.load(Ordering::Relaxed), 1);
    }
}
