use std::error::Error;
use std::fmt;
use std::future::ready;

use futures_util::{Stream, StreamExt, stream};

/// A stream ended before the provider ended it: its answer is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated;

impl fmt::Display for Truncated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stream ended before the provider ended it")
    }
}

impl Error for Truncated {}

/// The stream, with an error at its end if neither an error nor the provider's last item came before.
pub(crate) fn whole<T, E>(
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
