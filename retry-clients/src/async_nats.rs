//! [`async-nats`](https://docs.rs/async-nats/0.51) 0.51, `JetStream` included.
//!
//! ```
//! use async_nats::jetstream::context::{Context, PublishError};
//! use async_nats::jetstream::message::PublishMessage;
//! use bytes::Bytes;
//! use retry_clients::async_nats::classify;
//! use retry_runtime::retry;
//!
//! struct Orders(Context);
//!
//! impl Orders {
//!     // `JetStream` drops what it has already stored under that id, so a repetition does no harm.
//!     #[retry(max = 5, base = "100ms", on = classify)]
//!     async fn place(&self, id: &str, order: &Bytes) -> Result<(), PublishError> {
//!         let message = PublishMessage::build().message_id(id).payload(order.clone());
//!         self.0.send_publish("orders", message).await?.await?;
//!         Ok(())
//!     }
//! }
//! # let _ = Orders::place;
//! ```
//!
//! This client makes its connections again by itself, but repeats no request.

use std::error::Error as StdError;
use std::iter;

use ::async_nats::client::{FlushError, FlushErrorKind};
use ::async_nats::jetstream::context as jetstream;
use ::async_nats::jetstream::{Error as JetStreamError, ErrorCode};
use ::async_nats::{
    ConnectError, ConnectErrorKind, PublishError, PublishErrorKind, RequestError, RequestErrorKind,
    SubscribeError, SubscribeErrorKind,
};
use retry_runtime::{Classify, Verdict};

const BROKEN: Verdict = Verdict::TRANSIENT.ambiguous();

/// What the server calls unavailable though time won't heal it, from its `errors.json`: `JetStream` that is off for the
/// server or the account, clusters and accounts that are unknown, and a sequence that does not match.
const LASTING: [u64; 6] = [10010, 10035, 10036, 10039, 10063, 10076];

/// Which failures are worth a retry: of connecting, publishing, subscribing, flushing and requesting, also of `JetStream`;
/// and any of these in an [`async_nats::Error`], which holds all.
///
/// | failure | verdict |
/// |---|---|
/// | no connection, none in time | transient: nothing was sent |
/// | nobody answers on that subject, or no stream takes it; `JetStream` is not available for now (503), or has no leader | transient: nothing was done |
/// | `JetStream` could not store a message, or is still storing the one with that number | transient, ambiguous |
/// | `JetStream` has too many requests (429) | throttled |
/// | no answer or acknowledgement in time | timeout |
/// | the client has given up its connection, before it had an answer | transient, ambiguous |
/// | the same, before it took a message | transient: nothing was sent |
/// | as many messages unacknowledged as the client allows | throttled: nothing was sent |
/// | rejected credentials and certificates, wrong addresses, subjects and sizes, a wrong last sequence, all else | stop |
pub fn classify<E: Failure + ?Sized>(error: &E) -> Verdict {
    error.verdict()
}

/// An error of this client, for [`classify`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no error of `async-nats` that is known to say whether to retry",
    label = "not one of `ConnectError`, `PublishError`, `SubscribeError`, `FlushError`, `RequestError`",
    note = "an `async_nats::Error` holds any of them: the function can return that"
)]
pub trait Failure: private::Sealed {
    #[doc(hidden)]
    fn verdict(&self) -> Verdict;
}

mod private {
    pub trait Sealed {}
}

macro_rules! failures {
    ($($error:ty: |$this:ident| $verdict:expr;)*) => {$(
        impl private::Sealed for $error {}

        impl Failure for $error {
            fn verdict(&self) -> Verdict {
                let $this = self;
                $verdict
            }
        }
    )*};
}

failures! {
    ConnectError: |error| match error.kind() {
        ConnectErrorKind::Io => of_no_connection(error),
        ConnectErrorKind::Dns | ConnectErrorKind::TimedOut | ConnectErrorKind::MaxReconnects => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    };
    PublishError: |error| match error.kind() {
        PublishErrorKind::Send => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    };
    SubscribeError: |error| match error.kind() {
        SubscribeErrorKind::Other => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    };
    FlushError: |error| match error.kind() {
        FlushErrorKind::SendError => Verdict::TRANSIENT,
        FlushErrorKind::FlushError => BROKEN,
    };
    RequestError: |error| match error.kind() {
        RequestErrorKind::NoResponders => Verdict::TRANSIENT,
        RequestErrorKind::TimedOut => Verdict::TIMEOUT,
        RequestErrorKind::Other => BROKEN,
        _ => Verdict::STOP,
    };
    jetstream::PublishError: |error| match error.kind() {
        jetstream::PublishErrorKind::StreamNotFound => Verdict::TRANSIENT,
        jetstream::PublishErrorKind::TimedOut => Verdict::TIMEOUT,
        jetstream::PublishErrorKind::BrokenPipe => BROKEN,
        jetstream::PublishErrorKind::MaxAckPending => Verdict::THROTTLED,
        jetstream::PublishErrorKind::Other => of_causes(error.source()),
        _ => Verdict::STOP,
    };
    jetstream::RequestError: |error| match error.kind() {
        jetstream::RequestErrorKind::NoResponders => Verdict::TRANSIENT,
        jetstream::RequestErrorKind::TimedOut => Verdict::TIMEOUT,
        jetstream::RequestErrorKind::Other => of_causes(error.source()),
        jetstream::RequestErrorKind::InvalidSubject => Verdict::STOP,
    };
    JetStreamError: |error| match (error.code(), error.error_code()) {
        // The first with that number is still being stored, or what was stored is not known.
        (_, ErrorCode::STREAM_DUPLICATE_MESSAGE_CONFLICT | ErrorCode::STREAM_STORE_FAILED) => BROKEN,
        (_, ErrorCode::CLUSTER_NOT_LEADER) => Verdict::TRANSIENT,
        (503, code) if LASTING.contains(&code.0) => Verdict::STOP,
        (503, _) => Verdict::TRANSIENT,
        (429, _) => Verdict::THROTTLED,
        _ => Verdict::STOP,
    };
    ::async_nats::Error: |error| of_causes(Some(&**error));
}

/// What the first cause of a known type says.
fn of_causes(error: Option<&(dyn StdError + 'static)>) -> Verdict {
    iter::successors(error, |&error| error.source())
        .find_map(|cause| {
            of::<ConnectError>(cause)
                .or_else(|| of::<PublishError>(cause))
                .or_else(|| of::<SubscribeError>(cause))
                .or_else(|| of::<FlushError>(cause))
                .or_else(|| of::<RequestError>(cause))
                .or_else(|| of::<jetstream::PublishError>(cause))
                .or_else(|| of::<jetstream::RequestError>(cause))
                .or_else(|| of::<JetStreamError>(cause))
        })
        .unwrap_or(Verdict::STOP)
}

fn of<E: Failure + StdError + 'static>(cause: &(dyn StdError + 'static)) -> Option<Verdict> {
    cause.downcast_ref::<E>().map(Failure::verdict)
}

/// Whatever the I/O error was, nothing was sent. But a certificate that is not trusted is one, too.
fn of_no_connection(error: &ConnectError) -> Verdict {
    let io = error
        .source()
        .and_then(|cause| cause.downcast_ref::<std::io::Error>());
    Verdict::from(io.is_none_or(|io| io.classify().is_retryable()))
}
