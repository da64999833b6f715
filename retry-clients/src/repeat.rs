//! Requests that can be sent again, and the classification of their responses.

use std::borrow::Cow;
use std::fmt;

use retry_runtime::Verdict;

use crate::ClientRetries;

#[cfg(feature = "async_openai")]
mod async_openai;
mod body;
mod http;
mod recording;
#[cfg(any(feature = "async_openai", feature = "reqwest_middleware"))]
mod reqwest;

pub use body::RepeatBody;
pub(crate) use http::is_grpc;
pub use recording::{Recorded, Recording};

/// A request that can be sent again, to a service with responses of type `A`.
///
/// Implemented for `http::Request` with every body that is [`RepeatBody`], for the requests of `reqwest` (with the
/// feature `reqwest_middleware`) and of `async-openai`. For your own service:
///
/// ```
/// use std::borrow::Cow;
/// use retry_clients::ClientRetries;
/// use retry_clients::repeat::{Judged, Repeat, Unrepeatable};
/// use retry_runtime::Verdict;
///
/// #[derive(Clone)]
/// struct Query(String);
///
/// enum Reply { Rows(Vec<String>), Busy }
///
/// impl Repeat<Reply> for Query {
///     type Kept = Query;
///     type Answer = Reply;
///
///     fn keep(self, _: usize) -> (Self, Query) {
///         (self.clone(), self)
///     }
///     fn again(query: &Query, _: u32) -> Result<Self, Unrepeatable> {
///         Ok(query.clone())
///     }
///     async fn judge(_: &Query, reply: Reply, _: &ClientRetries) -> Judged<Reply> {
///         match reply {
///             Reply::Rows(_) => Judged::success(reply),
///             Reply::Busy => Judged::failure(reply, Verdict::TRANSIENT, "busy"),
///         }
///     }
///     fn name(_: &Query) -> Cow<'_, str> {
///         Cow::Borrowed("query")
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be sent again to a service that answers with `{A}`",
    label = "not `Repeat<{A}>`",
    note = "if it is `Clone`, use `RetryLayer::cloning(policy, |outcome| …)`, which needs no impl",
    note = "otherwise implement `retry_clients::repeat::Repeat<{A}>` for `{Self}`"
)]
pub trait Repeat<A>: Sized + Send {
    /// The data that is kept while the request is sent, to create it again.
    type Kept: Send + Sync;
    /// The response that the caller gets.
    type Answer: Send;

    /// Splits the request into the one to send now and the data to keep for retries. If the body can be read only once,
    /// at most `most` bytes of it are kept.
    fn keep(self, most: usize) -> (Self, Self::Kept);

    /// Updates the kept data with a request that a hook may have changed. Returns the request to send. By default,
    /// calls [`keep`](Self::keep).
    ///
    /// Don't keep a recorded body again, or it would be recorded once more at each retry.
    fn keep_again(self, kept: &mut Self::Kept, most: usize) -> Self {
        let (request, again) = self.keep(most);
        *kept = again;
        request
    }

    /// Returns an error if the request can't be sent again.
    fn repeatable(kept: &Self::Kept) -> Result<(), Unrepeatable> {
        let _ = kept;
        Ok(())
    }

    /// Creates the request again. `attempts` is the number of attempts that have sent it. If the previous attempt is
    /// still sending the body, that body then fails.
    fn again(kept: &Self::Kept, attempts: u32) -> Result<Self, Unrepeatable>;

    /// Classifies the response, and returns the response for the caller.
    fn judge(
        kept: &Self::Kept,
        answer: A,
        retries: &ClientRetries,
    ) -> impl Future<Output = Judged<Self::Answer>> + Send;

    /// True if [`drain`](Self::drain) does something. Default false: a failed response is dropped before the pause,
    /// unless a hook gets it, or the call may still end with it.
    const DRAINS: bool = false;

    /// Waits for the pause before a retry. Meanwhile, may read the rest of the failed response, so that the retry can
    /// reuse the connection. After the pause, the response must not occupy a resource that a service waits for. Returns
    /// `None` if the call ends during the pause, with this response. By default, only waits.
    fn drain(
        answer: &mut Self::Answer,
        pause: impl Future<Output = Option<()>> + Send,
    ) -> impl Future<Output = Option<()>> + Send {
        let _ = answer;
        pause
    }

    /// Stores the number of retries in a call's response. Does nothing by default.
    fn retried(answer: &mut Self::Answer, retries: u32) {
        let _ = (answer, retries);
    }

    /// Returns the name of a call with this request, used unless [`ClientRetries::name`] is set. Many requests should
    /// share a name, and it must not contain secrets.
    fn name(kept: &Self::Kept) -> Cow<'_, str>;

    /// Records that an attempt failed ambiguously: the server may still be processing it. Does nothing by default.
    fn failed_ambiguously(kept: &mut Self::Kept) {
        let _ = kept;
    }

    /// Returns true if the request's method is idempotent. Default true.
    fn is_idempotent(kept: &Self::Kept) -> bool {
        let _ = kept;
        true
    }
}

/// A response and its classification.
#[derive(Clone, Debug)]
pub struct Judged<A> {
    pub(crate) answer: A,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) shown: String,
}

impl<A> Judged<A> {
    /// Creates a success.
    pub fn success(answer: A) -> Self {
        Self {
            answer,
            verdict: None,
            shown: String::new(),
        }
    }

    /// Creates a failure with this verdict. The log shows `shown` as the error.
    pub fn failure(answer: A, verdict: Verdict, shown: impl Into<String>) -> Self {
        Self {
            answer,
            verdict: Some(verdict),
            shown: shown.into(),
        }
    }
}

/// The reason why a request can't be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unrepeatable {
    /// The body is longer than this number of bytes, the maximum that is recorded.
    TooLong(usize),
    /// The body failed partway through.
    Broken,
    /// The body can be read only once.
    Consumed,
}

impl fmt::Display for Unrepeatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request can't be sent again: its body ")?;
        match self {
            Self::TooLong(most) => write!(f, "is longer than the {most} bytes that are recorded"),
            Self::Broken => f.write_str("failed partway through"),
            Self::Consumed => f.write_str("can be read only once"),
        }
    }
}

impl std::error::Error for Unrepeatable {}
