#[cfg(feature = "kube")]
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http_body::Body;

use super::Unrepeatable;
#[cfg(any(feature = "tower", feature = "reqwest_middleware"))]
use super::{Recorded, Recording};

/// The body of a request that can be sent again.
///
/// Implemented for bodies in memory (`Full`, `Empty`, `String`), for the boxed bodies of `http-body-util` whose error
/// is a `Box<dyn Error + Send + Sync>`, and with their features for the bodies of tonic, kube, octocrab and reqwest.
/// For your own body type that can wrap another body:
///
/// ```
/// # use std::pin::Pin;
/// # use std::task::{Context, Poll};
/// # use bytes::Bytes;
/// # use http_body::Frame;
/// # type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// use http_body::Body as _;
/// use retry_clients::repeat::{Recorded, Recording, RepeatBody, Unrepeatable};
///
/// enum Body { Empty, Recorded(Box<Recorded<Body>>) }
/// # impl http_body::Body for Body {
/// #     type Data = Bytes;
/// #     type Error = BoxError;
/// #     fn poll_frame(
/// #         self: Pin<&mut Self>,
/// #         context: &mut Context<'_>,
/// #     ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
/// #         match self.get_mut() {
/// #             Self::Empty => Poll::Ready(None),
/// #             Self::Recorded(body) => Pin::new(&mut **body).poll_frame(context),
/// #         }
/// #     }
/// # }
///
/// impl RepeatBody for Body {
///     type Kept = Recording<Body>;
///
///     fn keep(self, most: usize) -> (Self, Self::Kept) {
///         let (first, kept) = Recording::start(self, most);
///         (Body::Recorded(Box::new(first)), kept)
///     }
///     fn keep_again(self, _: &mut Self::Kept, _: usize) -> Self {
///         self
///     }
///     fn repeatable(kept: &Self::Kept) -> Result<(), Unrepeatable> {
///         kept.repeatable()
///     }
///     fn again(kept: &Self::Kept) -> Result<Self, Unrepeatable> {
///         Ok(Body::Recorded(Box::new(kept.again()?)))
///     }
///     fn is_read(kept: &Self::Kept) -> bool {
///         kept.is_read()
///     }
/// }
/// ```
pub trait RepeatBody: Body<Data = Bytes> + Sized + Send {
    /// The data that is kept while the body is sent, to create it again.
    type Kept: Send + Sync;

    /// Splits the body into the one to send now and the data to keep for retries, at most `most` bytes.
    fn keep(self, most: usize) -> (Self, Self::Kept);

    /// Updates the kept data with a body that a hook may have changed. Returns the body to send. By default, calls
    /// [`keep`](Self::keep). For a recorded body, return `self`, or it would be recorded once more at each retry.
    fn keep_again(self, kept: &mut Self::Kept, most: usize) -> Self {
        let (body, again) = self.keep(most);
        *kept = again;
        body
    }

    /// Returns an error if the body can't be sent again. By default, tries [`again`](Self::again).
    fn repeatable(kept: &Self::Kept) -> Result<(), Unrepeatable> {
        Self::again(kept).map(drop)
    }

    /// Returns the body from its start.
    fn again(kept: &Self::Kept) -> Result<Self, Unrepeatable>;

    /// Returns true if the body was read to its end, or is in memory.
    fn is_read(kept: &Self::Kept) -> bool;
}

/// Implements the trait for bodies that are completely in memory.
macro_rules! in_memory {
    ($($body:ty),*) => {$(
        impl RepeatBody for $body {
            type Kept = Self;

            fn keep(self, _: usize) -> (Self, Self) {
                (self.clone(), self)
            }

            fn again(kept: &Self) -> Result<Self, Unrepeatable> {
                Ok(kept.clone())
            }

            fn is_read(_: &Self) -> bool {
                true
            }
        }
    )*};
}

/// Implements the trait for bodies that can wrap another body.
macro_rules! holding {
    ($($body:ty, $hold:expr;)*) => {$(
        impl RepeatBody for $body {
            type Kept = Recording<Self>;

            fn keep(self, most: usize) -> (Self, Self::Kept) {
                let (first, kept) = Recording::start(self, most);
                let hold: fn(Recorded<Self>) -> Self = $hold;
                (hold(first), kept)
            }

            fn keep_again(self, _: &mut Self::Kept, _: usize) -> Self {
                self
            }

            fn repeatable(kept: &Self::Kept) -> Result<(), Unrepeatable> {
                kept.repeatable()
            }

            fn again(kept: &Self::Kept) -> Result<Self, Unrepeatable> {
                let hold: fn(Recorded<Self>) -> Self = $hold;
                kept.again().map(hold)
            }

            fn is_read(kept: &Self::Kept) -> bool {
                kept.is_read()
            }
        }
    )*};
}

in_memory!(String);
#[cfg(feature = "tower")]
in_memory!(http_body_util::Full<Bytes>, http_body_util::Empty<Bytes>);

#[cfg(feature = "tower")]
holding! {
    http_body_util::combinators::UnsyncBoxBody<Bytes, crate::BoxError>, http_body_util::BodyExt::boxed_unsync;
    http_body_util::combinators::BoxBody<Bytes, crate::BoxError>, http_body_util::BodyExt::boxed;
}

#[cfg(feature = "tonic")]
holding! {
    tonic::body::Body, tonic::body::Body::new;
}

#[cfg(feature = "octocrab")]
holding! {
    octocrab::OctoBody, octocrab::OctoBody::new;
}

#[cfg(feature = "reqwest_middleware")]
holding! {
    reqwest::Body, reqwest::Body::wrap;
}

/// The bodies that kube sends are in memory, and can't wrap other bodies. In a `Mutex`, because they are not `Sync`.
#[cfg(feature = "kube")]
impl RepeatBody for kube::client::Body {
    type Kept = Mutex<Option<Self>>;

    fn keep(self, _: usize) -> (Self, Self::Kept) {
        let kept = self.try_clone();
        (self, Mutex::new(kept))
    }

    fn again(kept: &Self::Kept) -> Result<Self, Unrepeatable> {
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let again = kept.as_ref().and_then(Self::try_clone);
        again.ok_or(Unrepeatable::Consumed)
    }

    fn is_read(_: &Self::Kept) -> bool {
        true
    }
}
