#[cfg(feature = "kube")]
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http_body::Body;

use super::Unrepeatable;
#[cfg(any(feature = "tower", feature = "reqwest_middleware"))]
use super::{Recorded, Recording};

/// The body of a request that can be sent again.
///
/// Implemented for bodies in memory (`Full`, `Empty`, `String`), for the boxed bodies of `http-body-util` whose
/// error is a `Box<dyn Error + Send + Sync>`, and with their features for the bodies of tonic, kube, octocrab and
/// reqwest. For one of your own, that can hold another body:
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
    /// What is kept of it while it is sent.
    type Kept: Send + Sync;

    /// Parts it into what is sent first and what is kept, which may be at most that many bytes.
    fn keep(self, most: usize) -> (Self, Self::Kept);

    /// Keeps a body that is kept already, but that a hook may have changed since. Returns what is sent. By default, as
    /// [`keep`](Self::keep). One that is recorded returns itself, or it would be recorded once more at each retry.
    fn keep_again(self, kept: &mut Self::Kept, most: usize) -> Self {
        let (body, again) = self.keep(most);
        *kept = again;
        body
    }

    /// Whether the body can be sent again. By default, tries that.
    fn repeatable(kept: &Self::Kept) -> Result<(), Unrepeatable> {
        Self::again(kept).map(drop)
    }

    /// The body from its beginning.
    fn again(kept: &Self::Kept) -> Result<Self, Unrepeatable>;

    /// Whether the body was read to its end, or is in memory.
    fn is_read(kept: &Self::Kept) -> bool;
}

/// Bodies that hold all that they send.
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

/// Bodies that can hold another body.
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

/// All that this client sends is in memory, and its bodies hold no others. They are not `Sync`.
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
