//! The key `stream`: as a word, with a value, in parentheses, under strict lints and with odd names in scope.

#![deny(warnings, clippy::all, clippy::pedantic, unused_qualifications)]

use std::pin::Pin;

use futures::stream::{self, Stream, StreamExt};
use retry_runtime::retry;

#[expect(non_upper_case_globals, reason = "a name of the expansion")]
mod odd {
    pub const retry_stream: u32 = 1;
    pub const retry_giver: u32 = 1;
    pub const retry_opened: u32 = 1;
}

type Item = Result<u32, String>;

#[retry(stream, on = |_| true)]
fn word() -> impl Stream<Item = Item> + Send {
    stream::iter([Ok(1)])
}

#[retry(stream("buffer"), on(|_| true))]
fn parentheses(upto: &[u32]) -> impl Stream<Item = Item> {
    stream::iter(upto.iter().copied()).map(Ok)
}

#[retry(stream = "resume", attempt = attempt, on = |_| true)]
fn resume<'a>(upto: &'a [u32]) -> Pin<Box<dyn Stream<Item = Item> + Send + 'a>> {
    Box::pin(stream::iter(upto.iter().copied()).map(Ok).skip(attempt.yielded()))
}

#[retry(stream = "first", max = 1, on = |_| true)]
async fn with_coercion(fail: bool) -> Result<Pin<Box<dyn Stream<Item = Item>>>, String> {
    use odd::{retry_giver, retry_opened, retry_stream};
    if fail {
        return Err(format!("{}", retry_giver + retry_opened + retry_stream));
    }
    Ok(Box::pin(stream::once(std::future::ready(Ok(1)))))
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    assert_eq!(word().collect::<Vec<_>>().await, [Ok(1)]);
    assert_eq!(parentheses(&[1, 2]).collect::<Vec<_>>().await, [Ok(1), Ok(2)]);
    assert_eq!(resume(&[1, 2]).collect::<Vec<_>>().await, [Ok(1), Ok(2)]);
    let stream = with_coercion(false).await.unwrap_or_else(|error| unreachable!("{error}"));
    assert_eq!(stream.collect::<Vec<_>>().await, [Ok(1)]);
}
