use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::Poll;

use crate::time::skip;

/// The body's output, or `None` if the sleep, a timeout's, ends first.
pub(crate) fn race<F: Future>(
    mut body: Pin<&mut F>,
    mut sleep: Pin<&mut impl Future<Output = ()>>,
) -> impl Future<Output = Option<F::Output>> {
    poll_fn(move |context| {
        if let Poll::Ready(output) = body.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        let slept = skip::unskipped(|| sleep.as_mut().poll(context));
        slept.map(|()| None)
    })
}
