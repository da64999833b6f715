//! Panics at the place given by its argument.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use retry_runtime::{retry, retrying};

#[retry(on = |_| true, timer = |_| std::future::ready(()))]
async fn asynchronous() -> Result<u32, String> {
    panic!("asynchronous") // asynchronous
}

#[retry(on = |_| true)]
fn blocking() -> Result<u32, String> {
    panic!("blocking") // blocking
}

#[retry(on = |_| true, timer = |_| std::future::ready(()))]
fn future() -> impl Future<Output = Result<u32, String>> {
    async move { panic!("future") } // future
}

fn expression() -> Result<u32, String> {
    retrying!(on = |_| true, {
        panic!("expression") // expression
    })
}

struct Client;

#[retry(on = |_| true, backoff = "none")]
impl Client {
    fn method(&self) -> Result<u32, String> {
        panic!("method") // method
    }
}

/// None of them waits.
fn run<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("it would wait"),
    }
}

fn main() {
    let _ = match std::env::args().nth(1).as_deref() {
        Some("asynchronous") => run(asynchronous()),
        Some("blocking") => blocking(),
        Some("future") => run(future()),
        Some("expression") => expression(),
        _ => Client.method(),
    };
}
