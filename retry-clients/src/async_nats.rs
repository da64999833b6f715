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
//!     // `JetStream` ignores a second message with an id that it has stored.
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
//! This client reconnects by itself, but doesn't resend requests.

use std::error::Error as StdError;
use std::fmt::{Debug, Display};
use std::{io, iter};

use ::async_nats::client::FlushErrorKind;
use ::async_nats::error::Error;
use ::async_nats::jetstream::{Error as JetStreamError, ErrorCode};
use ::async_nats::jetstream::{consumer, context, kv, stream};
use ::async_nats::{ConnectErrorKind, RequestErrorKind, StatusCode};
use retry_runtime::{Classify, Verdict};
use tokio::sync::oneshot::error::RecvError;

use crate::causes::{BROKEN, cause};

/// Error codes that the server reports as unavailable, although waiting doesn't help (from its `errors.json`):
/// `JetStream` disabled for the server or the account, unknown clusters and accounts, and a sequence that does not
/// match.
const PERMANENT: [u64; 6] = [10010, 10035, 10036, 10039, 10063, 10076];

/// The start of a pull consumer's error text for a status that ends a fetch. The client keeps only the text.
const PULL_ERROR: &str = "error while processing messages from the stream: ";

/// Temporary failures: the subject has no responder, or the consumer is moving to another server.
const TEMPORARY: [&str; 3] = [
    "503, ",
    r#"409, Some("Leadership Change")"#,
    r#"409, Some("Server Shutdown")"#,
];

/// Classifies any error from this client: from connecting, publishing, subscribing, flushing and requesting, and from
/// `JetStream` with its streams, consumers, key-value stores and object stores.
///
/// | failure | verdict |
/// |---|---|
/// | connecting failed or timed out | transient: nothing was sent |
/// | the subject doesn't have a responder or a stream; `JetStream` is temporarily unavailable (503), has no leader, or all servers of a stream or consumer are down; a pull consumer is moving to another server | transient: nothing was done |
/// | `JetStream` could not store a message, or is still storing the message with the same number | transient, ambiguous |
/// | `JetStream` gets too many requests (429) | throttled |
/// | no response, acknowledgement or heartbeat in time | timeout |
/// | the client closed before it got a response: it was drained, or gave up its connection | transient, ambiguous |
/// | the client was already closed | stop: it stays closed |
/// | too many unacknowledged messages for the client's limit | throttled: nothing was sent |
/// | rejected credentials and certificates; wrong addresses, subjects, names and sizes; objects that don't exist, or already exist; a wrong last sequence; anything else | stop |
///
/// An error that only wraps another error has the inner error's verdict. So does an [`async_nats::Error`], which can
/// contain any error.
///
/// But this client drops some causes. A failed request of `update_consumer` or `create_consumer_strict` without a cause
/// is transient and ambiguous. Some failures always stop, although a retry might help: a failed publish inside an
/// object store's `put`, `update_metadata`, `add_link` or `add_bucket_link`, and a `JetStream` error or a missing
/// responder in `reset_consumer`.
pub fn classify<E: Failure + ?Sized>(error: &E) -> Verdict {
    error.verdict()
}

/// An error of this client, for [`classify`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error of `async-nats`",
    label = "not an `async_nats::error::Error` of any kind, nor an `async_nats::jetstream::Error`",
    note = "an `async_nats::Error` can contain any error, and has the verdict of the first error of this client in it"
)]
pub trait Failure {
    #[doc(hidden)]
    fn verdict(&self) -> Verdict;
}

impl<K: Clone + Debug + Display + PartialEq + 'static> Failure for Error<K> {
    fn verdict(&self) -> Verdict {
        cause_verdict(self)
    }
}

impl Failure for JetStreamError {
    fn verdict(&self) -> Verdict {
        match (self.code(), self.error_code()) {
            // The first message with that number is still being stored, or it is unknown which one was stored.
            (_, ErrorCode::STREAM_DUPLICATE_MESSAGE_CONFLICT | ErrorCode::STREAM_STORE_FAILED) => {
                BROKEN
            }
            (
                _,
                ErrorCode::CLUSTER_NOT_LEADER
                | ErrorCode::STREAM_OFFLINE
                | ErrorCode::CONSUMER_OFFLINE,
            ) => Verdict::TRANSIENT,
            (503, code) if PERMANENT.contains(&code.0) => Verdict::STOP,
            (503, _) => Verdict::TRANSIENT,
            (429, _) => Verdict::THROTTLED,
            _ => Verdict::STOP,
        }
    }
}

impl Failure for ::async_nats::Error {
    fn verdict(&self) -> Verdict {
        cause_verdict(&**self)
    }
}

/// Returns the verdict of the first cause that has one.
fn cause_verdict(error: &(dyn StdError + 'static)) -> Verdict {
    iter::successors(Some(error), |&cause| cause.source())
        .find_map(verdict_of)
        .unwrap_or(Verdict::STOP)
}

/// Lists the kinds of each error type that have a verdict. For the other kinds, which may only name the failed
/// operation, the verdict depends on the cause.
macro_rules! kind_verdict {
    ($cause:ident: $($($kind:ty)|+ => $verdicts:tt)*) => {
        $($(kind_verdict!(@ $cause $kind $verdicts);)+)*
    };
    (@ $cause:ident $kind:ty { $($name:ident $(($($held:tt)*))? => $verdict:expr),* }) => {
        if let Some(error) = $cause.downcast_ref::<Error<$kind>>() {
            type Kind = $kind;
            $(if let Kind::$name $(($($held)*))? = error.kind() {
                return Some($verdict);
            })*
        }
    };
}

fn kind_verdict(cause: &(dyn StdError + 'static)) -> Option<Verdict> {
    kind_verdict! { cause:
        ConnectErrorKind => {
            Io => connect_verdict(cause),
            Dns => Verdict::TRANSIENT,
            TimedOut => Verdict::TRANSIENT,
            MaxReconnects => Verdict::TRANSIENT
        }
        RequestErrorKind | context::RequestErrorKind => {
            NoResponders => Verdict::TRANSIENT,
            TimedOut => Verdict::TIMEOUT
        }
        FlushErrorKind => { FlushError => BROKEN }
        context::PublishErrorKind => {
            StreamNotFound => Verdict::TRANSIENT,
            TimedOut => Verdict::TIMEOUT,
            BrokenPipe => BROKEN,
            MaxAckPending => Verdict::THROTTLED
        }
        context::AccountErrorKind | context::CreateStreamErrorKind => {
            JetStreamUnavailable => Verdict::TRANSIENT,
            TimedOut => Verdict::TIMEOUT,
            JetStream(error) => error.verdict()
        }
        context::ConsumerInfoErrorKind => {
            NoResponders => Verdict::TRANSIENT,
            Offline => Verdict::TRANSIENT,
            TimedOut => Verdict::TIMEOUT,
            JetStream(error) => error.verdict()
        }
        stream::ConsumerCreateStrictErrorKind | stream::ConsumerUpdateErrorKind => {
            Request => request_verdict(cause),
            TimedOut => Verdict::TIMEOUT,
            JetStream(error) => error.verdict()
        }
        stream::ConsumerErrorKind | stream::DeleteMessageErrorKind | stream::PurgeErrorKind
        | kv::StatusErrorKind => {
            TimedOut => Verdict::TIMEOUT,
            JetStream(error) => error.verdict()
        }
        context::GetStreamErrorKind | context::GetStreamByNameErrorKind
        | stream::LastRawMessageErrorKind => { JetStream(error) => error.verdict() }
        stream::DirectGetErrorKind => {
            ErrorResponse(StatusCode::NO_RESPONDERS, _) => Verdict::TRANSIENT,
            TimedOut => Verdict::TIMEOUT
        }
        context::CreateKeyValueErrorKind | context::UpdateKeyValueErrorKind
        | consumer::StreamErrorKind | consumer::pull::ConsumerRecreateErrorKind
        | consumer::push::ConsumerRecreateErrorKind | kv::EntryErrorKind | kv::UpdateErrorKind
        | kv::WatchErrorKind => { TimedOut => Verdict::TIMEOUT }
        consumer::pull::MessagesErrorKind | consumer::pull::OrderedErrorKind => {
            NoResponders => Verdict::TRANSIENT,
            MissingHeartbeat => Verdict::TIMEOUT
        }
        consumer::push::MessagesErrorKind | consumer::push::OrderedErrorKind => {
            MissingHeartbeat => Verdict::TIMEOUT
        }
    }
    None
}

/// Returns `None` if the verdict depends on the error's cause.
fn verdict_of(cause: &(dyn StdError + 'static)) -> Option<Verdict> {
    if let Some(verdict) = kind_verdict(cause) {
        return Some(verdict);
    }
    if cause.is::<RecvError>() {
        return Some(BROKEN);
    }
    if let Some(error) = cause.downcast_ref::<JetStreamError>() {
        return Some(error.verdict());
    }
    match cause.to_string().as_str() {
        // From a request with its own inbox, and from a double acknowledgement.
        "broken pipe" | "subscription dropped" => Some(BROKEN),
        // From an object store, whose error types need additional features of the client.
        "timed out" => Some(Verdict::TIMEOUT),
        text if is_temporary(text) => Some(Verdict::TRANSIENT),
        _ => cause.downcast_ref().map(io::Error::classify),
    }
}

fn is_temporary(text: &str) -> bool {
    text.strip_prefix(PULL_ERROR)
        .is_some_and(|status| TEMPORARY.iter().any(|start| status.starts_with(start)))
}

/// Classifies a failed request. The client drops the cause of a failure, except for timeouts.
fn request_verdict(error: &(dyn StdError + 'static)) -> Verdict {
    error.source().map_or(BROKEN, cause_verdict)
}

/// Classifies a failure to connect. Nothing was sent, so it is transient, unless the I/O error is permanent, such as an
/// untrusted certificate.
fn connect_verdict(error: &(dyn StdError + 'static)) -> Verdict {
    if cause::<io::Error>(error).is_none_or(|io| io.classify().is_retryable()) {
        Verdict::TRANSIENT
    } else {
        Verdict::STOP
    }
}
