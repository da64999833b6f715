use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use retry_runtime::{retry, retrying};

#[retry(on = |_| true)]
async fn asynchronous(number: u32) -> Result<u32, String> {
    if number > 5 {
        return Err(number.to_string()); // counted
    }
    Ok(number) // counted
}

#[retry(on = |_| true)]
fn blocking(number: u32) -> Result<u32, String> {
    if number > 5 {
        return Err(number.to_string()); // counted
    }
    Ok(number) // counted
}

#[retry(on = |_| true)]
fn future(number: u32) -> Pin<Box<dyn Future<Output = Result<u32, String>>>> {
    let next = number + 1; // counted
    Box::pin(async move {
        Ok(next) // counted
    })
}

#[retry(on = |_| true)]
fn lone_block(number: u32) -> impl Future<Output = Result<u32, String>> {
    async move {
        Ok(number) // counted
    }
}

async fn expression(number: u32) -> Result<u32, String> {
    let next = retrying!(on = |_| true, {
        Ok::<_, String>(number + 1) // counted
    })?;
    retrying!(on = |_| true, async {
        Ok::<_, String>(next) // counted
    })
    .await
}

#[retry(attempt = attempt, on = |_| true)]
fn attempt(number: u32) -> Result<u32, String> {
    if attempt.number() > 5 {
        return Err(number.to_string()); // counted
    }
    Ok(number) // counted
}

struct Empty;

impl Stream for Empty {
    type Item = Result<u32, String>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(None)
    }
}

#[retry(stream = "first", on = |_| true)]
fn stream(number: u32) -> impl Stream<Item = Result<u32, String>> {
    assert_eq!(number, 1); // counted
    Empty // counted
}

#[retry(stream = "buffer", on = |_| true)]
async fn opened(number: u32) -> Result<impl Stream<Item = Result<u32, String>>, String> {
    if number > 5 {
        return Err(number.to_string()); // counted
    }
    Ok(Empty) // counted
}

fn main() {
    drop((asynchronous(1), blocking(1), future(1), lone_block(1), expression(1)));
    drop((attempt(1), stream(1), opened(1)));
}
