//! Streams that detect truncation.

use std::error::Error;
use std::fmt;
use std::future::ready;

use futures_util::{Stream, StreamExt, stream};

/// The error of a stream that ended before its final item: the response is truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated;

impl fmt::Display for Truncated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stream was truncated before its final item")
    }
}

impl Error for Truncated {}

/// Returns the stream, with an error at its end if it contained neither an error nor the last item.
///
/// Many streams end in the same way whether they are complete or truncated: with server-sent events, only the last
/// event shows the difference. For `stream = "first"` and `stream = "buffer"` of `#[retry]`, such an end is a success.
/// With `whole` it is an error, which can be retried.
///
/// ```
/// use futures_util::stream::Stream;
/// use retry_clients::{Truncated, whole};
/// use retry_runtime::retry;
/// use std::io;
///
/// # struct Client;
/// # impl Client {
/// #     fn events(&self) -> impl Stream<Item = io::Result<String>> + use<> {
/// #         futures_util::stream::empty()
/// #     }
/// #[retry(stream = "buffer", max = 3)]
/// fn answer(&self) -> impl Stream<Item = io::Result<String>> {
///     let is_last = |event: &String| event == "[DONE]";
///     whole(self.events(), is_last, || {
///         io::Error::new(io::ErrorKind::UnexpectedEof, Truncated)
///     })
/// }
/// # }
/// ```
pub fn whole<T, E>(
    stream: impl Stream<Item = Result<T, E>>,
    is_last: impl Fn(&T) -> bool,
    truncated: impl FnOnce() -> E,
) -> impl Stream<Item = Result<T, E>> {
    let mut truncated = Some(truncated);
    let end = stream::once(ready(None));
    stream.map(Some).chain(end).filter_map(move |item| {
        let item = match item {
            Some(item) => {
                if item.as_ref().map_or(true, &is_last) {
                    truncated = None;
                }
                Some(item)
            }
            None => truncated.take().map(|truncated| Err(truncated())),
        };
        ready(item)
    })
}
