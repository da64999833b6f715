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
//! This client makes its connections again by itself, but repeats no request.

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

/// What the server calls unavailable though time won't heal it, from its `errors.json`: `JetStream` that is off for the
/// server or the account, clusters and accounts that are unknown, and a sequence that does not match.
const LASTING: [u64; 6] = [10010, 10035, 10036, 10039, 10063, 10076];

/// How a pull consumer words a status that ends what it fetches. It keeps no more than this text.
const OF_PULL: &str = "error while processing messages from the stream: ";

/// The failures that pass: nobody answers, or the consumer goes to another server.
const PASSING: [&str; 3] = [
    "503, ",
    r#"409, Some("Leadership Change")"#,
    r#"409, Some("Server Shutdown")"#,
];

/// Which failures are worth a retry, in an error of any kind: of connecting, publishing, subscribing, flushing and
/// requesting, and of `JetStream` with its streams, consumers, key-value stores and object stores.
///
/// | failure | verdict |
/// |---|---|
/// | no connection, none in time | transient: nothing was sent |
/// | nobody answers on that subject, or no stream takes it; `JetStream` is not available for now (503), has no leader, or all servers of a stream or consumer are down; a pull consumer moves to another server | transient: nothing was done |
/// | `JetStream` could not store a message, or is still storing the one with that number | transient, ambiguous |
/// | `JetStream` has too many requests (429) | throttled |
/// | no answer, acknowledgement or heartbeat in time | timeout |
/// | the client ended before it had an answer: it was drained, or has given up its connection | transient, ambiguous |
/// | the client had ended before | stop: it stays so |
/// | as many messages unacknowledged as the client allows | throttled: nothing was sent |
/// | rejected credentials and certificates; wrong addresses, subjects, names and sizes; what is not there, or is there already; a wrong last sequence; all else | stop |
///
/// An error that only wraps another one is what that one says. So is an [`async_nats::Error`], which holds any.
///
/// But this client drops some causes. A request of `update_consumer` or `create_consumer_strict` that failed without
/// one is transient and ambiguous. Some failures always stop although they might pass: publishing that fails inside an
/// object store's `put`, `update_metadata`, `add_link` or `add_bucket_link`, and, for `reset_consumer`, what
/// `JetStream` says, or that nobody answers.
pub fn classify<E: Failure + ?Sized>(error: &E) -> Verdict {
    error.verdict()
}

/// An error of this client, for [`classify`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error of `async-nats`",
    label = "not an `async_nats::error::Error` of any kind, nor an `async_nats::jetstream::Error`",
    note = "an `async_nats::Error` holds any error, and is what the first one of this client in it says"
)]
pub trait Failure {
    #[doc(hidden)]
    fn verdict(&self) -> Verdict;
}

impl<K: Clone + Debug + Display + PartialEq + 'static> Failure for Error<K> {
    fn verdict(&self) -> Verdict {
        of_causes(self)
    }
}

impl Failure for JetStreamError {
    fn verdict(&self) -> Verdict {
        match (self.code(), self.error_code()) {
            // The first with that number is still being stored, or what was stored is not known.
            (_, ErrorCode::STREAM_DUPLICATE_MESSAGE_CONFLICT | ErrorCode::STREAM_STORE_FAILED) => {
                BROKEN
            }
            (
                _,
                ErrorCode::CLUSTER_NOT_LEADER
                | ErrorCode::STREAM_OFFLINE
                | ErrorCode::CONSUMER_OFFLINE,
            ) => Verdict::TRANSIENT,
            (503, code) if LASTING.contains(&code.0) => Verdict::STOP,
            (503, _) => Verdict::TRANSIENT,
            (429, _) => Verdict::THROTTLED,
            _ => Verdict::STOP,
        }
    }
}

impl Failure for ::async_nats::Error {
    fn verdict(&self) -> Verdict {
        of_causes(&**self)
    }
}

/// What the first cause says that says something.
fn of_causes(error: &(dyn StdError + 'static)) -> Verdict {
    iter::successors(Some(error), |&cause| cause.source())
        .find_map(said)
        .unwrap_or(Verdict::STOP)
}

/// For each type of errors the kinds that say something by themselves. The others stop, or only say what failed, and their
/// cause why.
macro_rules! by_kind {
    ($cause:ident: $($($kind:ty)|+ => $said:tt)*) => {
        $($(by_kind!(@ $cause $kind $said);)+)*
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

fn by_kind(cause: &(dyn StdError + 'static)) -> Option<Verdict> {
    by_kind! { cause:
        ConnectErrorKind => {
            Io => of_no_connection(cause),
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
            Request => of_request(cause),
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

/// `None` if only its cause can say.
fn said(cause: &(dyn StdError + 'static)) -> Option<Verdict> {
    if let Some(verdict) = by_kind(cause) {
        return Some(verdict);
    }
    if cause.is::<RecvError>() {
        return Some(BROKEN);
    }
    if let Some(error) = cause.downcast_ref::<JetStreamError>() {
        return Some(error.verdict());
    }
    match cause.to_string().as_str() {
        // Of a request with an inbox of its own, and of an acknowledgement that is to be acknowledged.
        "broken pipe" | "subscription dropped" => Some(BROKEN),
        // Of an object store, whose types need more of the client than all others.
        "timed out" => Some(Verdict::TIMEOUT),
        text if passes(text) => Some(Verdict::TRANSIENT),
        _ => cause.downcast_ref().map(io::Error::classify),
    }
}

fn passes(text: &str) -> bool {
    text.strip_prefix(OF_PULL)
        .is_some_and(|status| PASSING.iter().any(|start| status.starts_with(start)))
}

/// The client drops the cause of such an error, except its timeouts.
fn of_request(error: &(dyn StdError + 'static)) -> Verdict {
    error.source().map_or(BROKEN, of_causes)
}

/// Whatever the I/O error was, nothing was sent. But a certificate that is not trusted is one, too.
fn of_no_connection(error: &(dyn StdError + 'static)) -> Verdict {
    if cause::<io::Error>(error).is_none_or(|io| io.classify().is_retryable()) {
        Verdict::TRANSIENT
    } else {
        Verdict::STOP
    }
}
