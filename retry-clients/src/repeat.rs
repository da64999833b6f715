//! Requests that can be sent again, and what their answers mean.

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

/// A request that can be sent again, for a service that answers with `A`.
///
/// Implemented for `http::Request` with every body that is [`RepeatBody`], for the requests of `reqwest` (with
/// the feature `reqwest_middleware`) and of `async-openai`. For a service of your own:
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
    /// What is kept of it while it is sent.
    type Kept: Send + Sync;
    /// What the caller is answered with.
    type Answer: Send;

    /// Parts it into what is sent first and what is kept. Of a body that can be read only once, at most that many bytes
    /// are kept.
    fn keep(self, most: usize) -> (Self, Self::Kept);

    /// Keeps a request that is kept already, but that a hook may have changed since. Returns what is sent. By default, as
    /// [`keep`](Self::keep).
    ///
    /// A body that is recorded must stay as it was kept, or it would be recorded once more at each retry.
    fn keep_again(self, kept: &mut Self::Kept, most: usize) -> Self {
        let (request, again) = self.keep(most);
        *kept = again;
        request
    }

    /// Whether the request can be sent again.
    fn repeatable(kept: &Self::Kept) -> Result<(), Unrepeatable> {
        let _ = kept;
        Ok(())
    }

    /// The request again, after that many attempts that sent it. What is still being sent of the one before fails.
    fn again(kept: &Self::Kept, attempts: u32) -> Result<Self, Unrepeatable>;

    /// What the answer means, and the answer as it is handed on.
    fn judge(
        kept: &Self::Kept,
        answer: A,
        retries: &ClientRetries,
    ) -> impl Future<Output = Judged<Self::Answer>> + Send;

    /// Whether [`drain`](Self::drain) is of use. Default false: a failed answer is dropped before the pause, unless a
    /// hook sees it, or the call may end with it after all.
    const DRAINS: bool = false;

    /// Waits for the pause before a retry, and may meanwhile read what is left of the failed answer, so that its
    /// connection serves the retry, too. After the pause, the answer must hold nothing that a service waits for. `None`
    /// if the call ends in the pause: it ends with the answer. By default, only waits.
    fn drain(
        answer: &mut Self::Answer,
        pause: impl Future<Output = Option<()>> + Send,
    ) -> impl Future<Output = Option<()>> + Send {
        let _ = answer;
        pause
    }

    /// Notes in a call's answer how many retries it took. Does nothing by default.
    fn retried(answer: &mut Self::Answer, retries: u32) {
        let _ = (answer, retries);
    }

    /// What a call with it is named, unless [`ClientRetries::name`] says: the same for many requests, and no secret.
    fn name(kept: &Self::Kept) -> Cow<'_, str>;

    /// Notes that an attempt failed ambiguously: the server may still be at work on it. Does nothing by default.
    fn failed_ambiguously(kept: &mut Self::Kept) {
        let _ = kept;
    }

    /// Whether the request may take effect twice without harm, as its method says. Default true.
    fn is_idempotent(kept: &Self::Kept) -> bool {
        let _ = kept;
        true
    }
}

/// An answer, and what it means.
#[derive(Clone, Debug)]
pub struct Judged<A> {
    pub(crate) answer: A,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) shown: String,
}

impl<A> Judged<A> {
    /// A success.
    pub fn success(answer: A) -> Self {
        Self {
            answer,
            verdict: None,
            shown: String::new(),
        }
    }

    /// A failure with that verdict. The log shows it as that text.
    pub fn failure(answer: A, verdict: Verdict, shown: impl Into<String>) -> Self {
        Self {
            answer,
            verdict: Some(verdict),
            shown: shown.into(),
        }
    }
}

/// Why a request can't be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unrepeatable {
    /// More of its body was sent than this many bytes, which are all that may be recorded.
    TooLong(usize),
    /// The body broke off.
    Broken,
    /// The body can be read only once.
    Consumed,
}

impl fmt::Display for Unrepeatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request can't be sent again: its body ")?;
        match self {
            Self::TooLong(most) => write!(f, "is longer than the {most} bytes that are recorded"),
            Self::Broken => f.write_str("broke off"),
            Self::Consumed => f.write_str("can be read only once"),
        }
    }
}

impl std::error::Error for Unrepeatable {}
