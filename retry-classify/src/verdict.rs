use core::time::Duration;

use crate::kind::Kind;

/// The longest hint that is accepted: 365 days. A longer hint is probably a mistake, such as a timestamp in place of a
/// duration.
pub(crate) const LONGEST_HINT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The decision about one failure: stop, or retry, with the failure's [`Kind`] and the server's hint.
///
/// `on` functions and [`Classify`](crate::Classify) return it. Three types convert to it. A `bool`: `true` is a
/// transient failure, `false` is [`Verdict::STOP`]. An `Option<Duration>`: `Some` is a transient failure with that
/// hint, `None` is a stop. A [`Kind`]: the verdict of the same name. None of these types shows whether the request
/// may have taken effect, so transient failures are [ambiguous](Self::ambiguous).
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::Verdict;
///
/// fn classify(status: u16, retry_after: Option<u64>) -> Verdict {
///     match (status, retry_after) {
///         (429, Some(seconds)) => {
///             Verdict::THROTTLED.after(Duration::from_secs(seconds))
///         }
///         (429, None) => Verdict::THROTTLED,
///         (500..=599, _) => Verdict::TRANSIENT.ambiguous(),
///         _ => Verdict::STOP,
///     }
/// }
/// assert_eq!(classify(404, None), Verdict::STOP);
/// ```
///
/// The verdict on an error of unknown type equals [`Verdict::STOP`], but also causes a warning in the log.
#[derive(Clone, Copy, Debug, Eq)]
pub struct Verdict {
    pub(crate) kind: Option<Kind>,
    pub(crate) after: Option<Duration>,
    pub(crate) ambiguous: bool,
    pub(crate) basis: Basis,
}

/// The facts about the server or the error that a verdict's kind doesn't show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// The server responded.
    Answer,
    /// The attempt failed with this kind, whether or not a retry follows.
    Failed(Kind),
    /// No evidence about the server, because the caller ended the attempt.
    Nothing,
    /// No evidence about the server, because the error type is unknown.
    Unknown,
    /// The server throttled the request, and the client dropped the headers, which may have contained a `Retry-After`.
    LostHeaders(LostBy),
}

/// A client that drops a response's headers. Stored instead of the advice, because a text would make each verdict
/// larger, and with it each retried function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LostBy {
    /// reqwest's `error_for_status`.
    Reqwest,
    /// ureq, unless `http_status_as_error(false)` is set.
    Ureq,
}

impl LostBy {
    /// Advice to keep the headers.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Reqwest => {
                "use `.error_for_retry().await` of `retry_runtime::ErrorForRetry` \
    instead of `.error_for_status()`"
            }
            Self::Ureq => "set `http_status_as_error(false)` and return a `ResponseError`",
        }
    }
}

impl Basis {
    /// Removes facts that only the log reports.
    fn without_warning(self) -> Self {
        match self {
            Self::Unknown | Self::LostHeaders(_) => Self::Answer,
            other => other,
        }
    }
}

impl PartialEq for Verdict {
    fn eq(&self, other: &Self) -> bool {
        let seen = |of: &Self| (of.kind, of.after, of.ambiguous, of.basis.without_warning());
        seen(self) == seen(other)
    }
}

impl Verdict {
    /// Not retried: the call ends with this failure.
    pub const STOP: Self = Self {
        kind: None,
        after: None,
        ambiguous: false,
        basis: Basis::Answer,
    };
    /// A temporary fault: an overloaded server, a refused connection.
    pub const TRANSIENT: Self = Self::retry(Kind::Transient);
    /// The server asks for fewer requests: HTTP 429 and similar.
    pub const THROTTLED: Self = Self::retry(Kind::Throttled);
    /// No response in time. Always ambiguous, because the request may have taken effect.
    pub const TIMEOUT: Self = Self::retry(Kind::Timeout).ambiguous();
    /// A wrong response, for example one that can't be parsed. Retried without a delay unless the section `invalid(…)`
    /// sets a delay.
    pub const INVALID: Self = Self::retry(Kind::Invalid);

    /// Not retried, because a breaker or a limiter of an inner call rejected the attempt.
    pub(crate) const REJECTED: Self = Self::retry(Kind::Rejected).once();
    /// Not retried, because the caller cancelled the call.
    pub(crate) const CANCELLED: Self = Self {
        basis: Basis::Nothing,
        ..Self::STOP
    };

    /// Not retried, because the error type is unknown.
    pub(crate) const UNKNOWN: Self = Self {
        basis: Basis::Unknown,
        ..Self::STOP
    };

    /// Adds the wait that the server asked for. Has no effect on [`Verdict::STOP`].
    pub const fn after(mut self, hint: Duration) -> Self {
        self.after = Some(hint);
        self
    }

    /// Marks that the failed request may have taken effect, so that a function with `idempotent = false` does not
    /// repeat it.
    pub const fn ambiguous(mut self) -> Self {
        self.ambiguous = true;
        self
    }

    /// Prevents a retry, even though the server is at fault. Breakers and limiters still count the failure by its kind.
    ///
    /// [`Verdict::STOP`] means that the server is up. Use [`Verdict::INVALID`] for a response that is worth a retry,
    /// such as a conflict with another writer: breakers and limiters count such a response as a success.
    ///
    /// ```
    /// use retry_runtime::Verdict;
    ///
    /// fn classify(status: u16) -> Verdict {
    ///     match status {
    ///         // Repeating it is too expensive, but the server is down.
    ///         500..=599 => Verdict::TRANSIENT.once(),
    ///         _ => Verdict::STOP,
    ///     }
    /// }
    /// assert!(!classify(503).is_retryable());
    /// ```
    pub const fn once(self) -> Self {
        match self.kind {
            Some(kind) => Self {
                kind: None,
                basis: Basis::Failed(kind),
                ..self
            },
            None => self,
        }
    }

    /// The kind of failure, or `None` if it is not retried.
    pub const fn kind(self) -> Option<Kind> {
        self.kind
    }

    /// The wait that the server asked for.
    pub const fn hint(self) -> Option<Duration> {
        self.after
    }

    /// Returns true if the failed request may have taken effect.
    pub const fn is_ambiguous(self) -> bool {
        self.ambiguous
    }

    /// Returns true if the failure may be retried.
    pub const fn is_retryable(self) -> bool {
        self.kind.is_some()
    }

    /// This verdict, marked if the lost headers may have contained a `Retry-After`. Only throttled verdicts without a
    /// hint are marked, because most 503s come from gateways and have no `Retry-After`.
    #[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13", feature = "ureq_3"))]
    pub(crate) fn without_headers(mut self, client: LostBy) -> Self {
        if self == Self::THROTTLED {
            self.basis = Basis::LostHeaders(client);
        }
        self
    }

    pub(crate) fn ambiguous_if(mut self, may_have_effect: bool) -> Self {
        self.ambiguous |= may_have_effect;
        self
    }

    /// This verdict with the hint, if there is one.
    pub(crate) fn with_hint(self, hint: Option<Duration>) -> Self {
        hint.map_or(self, |hint| self.after(hint))
    }
}

impl From<bool> for Verdict {
    #[inline]
    fn from(retry: bool) -> Self {
        if retry {
            Kind::Transient.into()
        } else {
            Self::STOP
        }
    }
}

impl From<Kind> for Verdict {
    #[inline]
    fn from(kind: Kind) -> Self {
        match kind {
            // It is unknown whether the request had an effect.
            Kind::Transient => Self::TRANSIENT.ambiguous(),
            Kind::Throttled => Self::THROTTLED,
            Kind::Timeout => Self::TIMEOUT,
            Kind::Invalid => Self::INVALID,
            Kind::Rejected => Self::REJECTED,
        }
    }
}

impl From<Option<Duration>> for Verdict {
    fn from(hint: Option<Duration>) -> Self {
        hint.map_or(Self::STOP, |hint| Self::from(true).after(hint))
    }
}
