use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::Poll;

use retry_runtime::retry;

struct Response;

type Maybe = Option<u32>;

type Answer = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

#[retry]
async fn structure() -> Response {
    Response
}

#[retry(deadline = "1s")]
fn blocking() -> Response {
    Response
}

#[retry]
async fn option() -> Maybe {
    None
}

#[retry]
fn poll() -> Poll<io::Result<()>> {
    Poll::Pending
}

#[retry]
fn boxed_future() -> Answer {
    Box::pin(async { Ok(()) })
}

#[retry]
fn future() -> impl Future<Output = Maybe> {
    async { None }
}

fn main() {}
